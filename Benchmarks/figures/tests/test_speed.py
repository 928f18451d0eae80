import importlib.machinery
import importlib.util
import os
import unittest
import xml.etree.ElementTree

import svg_bars

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMESPACE = "{http://www.w3.org/2000/svg}"


def program(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(FOLDER, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


PAGE = """# A page

| machine | cores |
|---|---|
| one | 2 |

| what | ratio | goal | |
|---|---|---|---|
| `JSON`, small | 0.20 [0.19, 0.25] | ≤ 0.25 | met |
| JSON, large | 0.40 [0.39, 0.41] | ≤ 0.30 | **missed** |
| no figure | – | | |
| a call | 1.20 | | |

![plot](images/speed.svg)
"""


class Speed(unittest.TestCase):
    def test_it_reads_the_first_table_with_ratios_and_goals(self):
        found = program("speed").bars(PAGE)
        self.assertEqual(
            [(it.label, it.value, it.goal) for it in found],
            [("JSON, small", 0.2, 0.25), ("JSON, large", 0.4, 0.3), ("a call", 1.2, None)])
        self.assertEqual([it.is_met for it in found], [True, False, True])

    def test_a_page_without_the_table_or_the_plot_is_a_problem(self):
        speed = program("speed")
        with self.assertRaises(speed.Problem):
            speed.bars("| ratio |\n|---|\n| 1 |\n")
        with self.assertRaises(speed.Problem):
            speed.image("![photo](photo.png)", "docs")

    def test_the_plot_is_next_to_its_page(self):
        self.assertEqual(program("speed").image(PAGE, "docs"), os.path.join("docs", "images/speed.svg"))

    def test_the_plot_is_well_formed_and_repeatable(self):
        bars = program("speed").bars(PAGE)
        text = svg_bars.svg("A <title>", bars, "the other")
        self.assertEqual(text, svg_bars.svg("A <title>", bars, "the other"))
        shapes = xml.etree.ElementTree.fromstring(text)
        found = [it.text for it in shapes.iter(NAMESPACE + "text")]
        for wanted in ("A <title>", "JSON, small", "0.20", "1.20", "1 = the other"):
            self.assertIn(wanted, found)
        kinds = [it.get("class") for it in shapes.iter(NAMESPACE + "rect") if it.get("x") == "300"]
        self.assertEqual(kinds, ["met", "missed", "met"])


if __name__ == "__main__":
    unittest.main()
