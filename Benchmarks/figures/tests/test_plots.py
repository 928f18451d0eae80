import os
import unittest

import resilience_figures
from resilience_figures import SCENARIOS

from tests import stand_ins


def figures():
    made = {("run", "all", "seed"): 7.0}
    for name, scenario in SCENARIOS.items():
        for contender in scenario.contenders:
            for figure, _, _ in scenario.columns:
                made[name, contender, figure] = 1234.56
    return made


class Tables(unittest.TestCase):
    def test_a_row_for_each_contender_and_a_column_for_each_figure(self):
        lines = resilience_figures.table("held-images", figures()).splitlines()
        self.assertEqual(lines[0].count("|"), 5)
        self.assertEqual(lines[2], "| in order of arrival | 1,235 | 1,235 | 1,235 |")
        self.assertEqual(len(lines), 5)

    def test_a_missing_value_has_a_text(self):
        made = figures()
        made["half-capacity", "naive", "recovery"] = None
        made["half-capacity", "ours", "recovery"] = 5.0
        lines = resilience_figures.table("half-capacity", made).splitlines()
        self.assertTrue(lines[3].endswith("| not within 120 |"))
        self.assertTrue(lines[4].endswith("| 5 |"))

    def test_a_missing_figure_is_named(self):
        made = figures()
        del made["retry-storm", "ours", "peak"]
        with self.assertRaisesRegex(resilience_figures.Problem, "'peak' of ours in retry-storm"):
            resilience_figures.table("retry-storm", made)


class Filling(unittest.TestCase):
    def fill(self, text):
        return resilience_figures.fill(text, figures())

    def test_blocks_are_filled_and_other_text_is_kept(self):
        text = "a\n<!-- figures:seed -->\nold\n<!-- end -->\nb\n<!-- figures:retry-storm -->\n<!-- end -->\nc\n"
        filled = self.fill(text)
        self.assertTrue(filled.startswith("a\n<!-- figures:seed -->\nSeed 7.\n<!-- end -->\nb\n"))
        self.assertIn("| naive retry | 1,235 |", filled)
        self.assertTrue(filled.endswith("<!-- end -->\nc\n"))
        self.assertEqual(self.fill(filled), filled)

    def test_an_unknown_or_unclosed_block_is_found(self):
        with self.assertRaisesRegex(resilience_figures.Problem, "no figures 'storm'"):
            self.fill("<!-- figures:storm -->\n<!-- end -->\n")
        for text in ("nothing", "<!-- figures:seed -->\n", "<!-- figures:seed -->\n<!-- end -->\n<!-- figures:a -->\n"):
            with self.assertRaisesRegex(resilience_figures.Problem, "needs blocks"):
                self.fill(text)

    def test_the_document_has_a_block_for_each_scenario(self):
        path = os.path.join(stand_ins.ROOT, "docs", "resilience.md")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for name in [*SCENARIOS, "seed"]:
            self.assertIn(f"<!-- figures:{name} -->", text)
        for name in SCENARIOS:
            self.assertIn(f"images/resilience/{name}.svg", text)
        self.fill(text)


class Smoothing(unittest.TestCase):
    def test_a_value_becomes_the_mean_of_its_neighbors(self):
        self.assertEqual(resilience_figures.smoothed([0, 3, 6, None], 3), [1.5, 3, 4.5, None])
        self.assertEqual(resilience_figures.smoothed([0, 3, 6], 1), [0, 3, 6])


class Plots(stand_ins.Scripts):
    """The script with files in the format of the program."""

    def setUp(self):
        super().setUp()
        for name, scenario in SCENARIOS.items():
            columns = [f"{curve} {contender}" for curve, _ in scenario.panels for contender in scenario.contenders]
            rows = [f"{second}" + f",{second * 2}" * len(columns) for second in range(100)]
            self.put(name + ".csv", "\n".join(["seconds," + ",".join(columns), *rows]) + "\n")
        rows = [f"{','.join(key)},{value}" for key, value in figures().items()]
        self.put("summary.csv", "\n".join(["scenario,contender,figure,value", *rows]) + "\n")

    def put(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def run_plots(self, *arguments):
        return self.run_script("Benchmarks/figures/plots", self.folder, "--out", self.path("out"), *arguments)

    def drawn(self):
        texts = {}
        for name in sorted(os.listdir(self.path("out"))):
            with open(self.path("out", name), encoding="utf-8") as file:
                texts[name] = file.read()
        return texts

    def test_each_scenario_becomes_a_small_plot_and_the_same_one_each_time(self):
        self.assertEqual(self.run_plots()[0], 0)
        first = self.drawn()
        self.assertEqual(sorted(first), sorted(name + ".svg" for name in SCENARIOS))
        self.assertTrue(all(len(text) < 60_000 for text in first.values()))
        self.assertEqual(self.run_plots()[0], 0)
        self.assertEqual(self.drawn(), first)

    def test_it_fills_in_a_document(self):
        self.put("page.md", "<!-- figures:seed -->\n<!-- end -->\n")
        self.assertEqual(self.run_plots("--fill", self.path("page.md"))[0], 0)
        with open(self.path("page.md"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "<!-- figures:seed -->\nSeed 7.\n<!-- end -->\n")

    def test_a_document_without_blocks_is_not_changed(self):
        self.put("page.md", "nothing to fill in\n")
        status, output = self.run_plots("--fill", self.path("page.md"))
        self.assertEqual(status, 1)
        self.assertIn("plots: a document needs blocks", output)
        with open(self.path("page.md"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "nothing to fill in\n")

    def test_it_names_a_missing_column_or_file(self):
        self.put("retry-storm.csv", "seconds,arrivals none\n0,1\n")
        status, output = self.run_plots()
        self.assertEqual((status, output.splitlines()[-1]),
                         (1, "plots: retry-storm.csv has no column 'arrivals naive'"))
        os.remove(self.path("summary.csv"))
        self.assertIn("summary.csv", self.run_plots()[1])
