import unittest

import coverage_report


def entry(path, covered, count):
    return {"filename": "/x/y/" + path, "summary": {"lines": {"covered": covered, "count": count}}, "segments": [
        [1, 1, 5, True, True, False], [3, 1, 0, True, True, False], [4, 2, 5, True, False, False],
        [9, 1, 0, False, False, False]]}


def summary(*entries, exclusions=()):
    return coverage_report.summarize({"data": [{"files": list(entries)}]}, exclusions)


class Report(unittest.TestCase):
    def test_the_floor_applies_to_the_total(self):
        files = summary(entry("Sources/A/a.swift", 90, 100), entry("Sources/B/b.swift", 100, 100))
        lines, enough = coverage_report.report(files)
        self.assertTrue(enough)
        self.assertIn("95.00 %", lines[-1])
        self.assertFalse(coverage_report.report(summary(entry("Sources/A/a.swift", 94, 100)))[1])

    def test_only_library_files_without_exclusions_count(self):
        files = summary(entry("Tests/A/a.swift", 0, 9), entry("Sources/A/Apple/b.swift", 0, 9),
                        entry("Sources/A/a.swift", 9, 9), exclusions=["Sources/A/Apple/*.swift"])
        self.assertEqual(list(files), ["Sources/A/a.swift"])

    def test_missed_lines_are_named(self):
        files = summary(entry("Sources/A/a.swift", 8, 10))
        self.assertIn("3-4", "\n".join(coverage_report.report(files, missing=True)[0]))
