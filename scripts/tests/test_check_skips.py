import unittest

import check_skips
import swift_source

LISTED = [("test", "a file -- root may read it")]


class Skips(unittest.TestCase):
    def problems(self, log, exemptions=()):
        return check_skips.check(log, list(exemptions))

    def test_a_skipped_test_is_named_with_its_reason(self):
        log = '✔ Test "one" passed after 0.1 seconds.\n➜ Test "two" skipped: "nginx is not installed"\n'
        self.assertEqual(self.problems(log), ['skipped: "two": nginx is not installed'])
        self.assertEqual(len(self.problems('➜ Suite "nginx" skipped: "it is not installed"')), 1)

    def test_a_test_skipped_without_a_reason_is_found(self):
        for log in ('➜ Test "two" skipped.', "➜ Test two() skipped."):
            self.assertIn("without a reason", "".join(self.problems(log)), log)

    def test_a_listed_test_passes(self):
        self.assertEqual(self.problems('➜ Test "a file" skipped.', LISTED), [])
        self.assertEqual(self.problems('➜ Test "a file" skipped: "why"', LISTED), [])
        self.assertTrue(self.problems('➜ Test "a file more" skipped.', LISTED))

    def test_other_output_about_skipping_passes(self):
        for log in ('◇ Test "a call is skipped" started.', '✔ Test "skipped" passed after 1.0 seconds.',
                    "the rest is skipped.", "Ran 5 tests in 0.1s (skipped=1)"):
            self.assertEqual(self.problems(log), [], log)

    def test_an_exemption_needs_a_reason(self):
        self.assertIn("NAME -- REASON", "".join(self.problems("", [("test", "a file")])))
        self.assertIn("NAME -- REASON", "".join(self.problems("", [("suite", "a file -- why")])))

    def test_the_list_of_exemptions_is_valid(self):
        exemptions = swift_source.entries("scripts/skip-exemptions.txt")
        self.assertTrue(exemptions)
        self.assertEqual(self.problems("", exemptions), [])
