import unittest
import xml.etree.ElementTree

import svg_chart

NAMESPACE = "{http://www.w3.org/2000/svg}"


def line(*values):
    return list(enumerate(values))


def chart(*panels, **other):
    return svg_chart.Chart("A <title>", ["first", "second"], list(panels), **other)


def texts(text):
    return [it.text for it in xml.etree.ElementTree.fromstring(text).iter(NAMESPACE + "text")]


class Axes(unittest.TestCase):
    def test_ticks_are_round_and_reach_the_highest_value(self):
        self.assertEqual(svg_chart.steps(1.0), [0, 0.2, 0.4, 0.6, 0.8, 1.0])
        self.assertEqual(svg_chart.steps(765), [0, 200, 400, 600, 800])
        self.assertEqual(svg_chart.steps(200), [0, 50, 100, 150, 200])
        self.assertEqual(svg_chart.steps(0), [0, 1])

    def test_numbers_have_one_decimal_at_most(self):
        self.assertEqual([svg_chart.number(it) for it in (0, 0.25, 3, 12.34, 1500)], ["0", "0.2", "3", "12.3", "1,500"])


class Drawing(unittest.TestCase):
    def test_it_is_well_formed_and_has_its_texts(self):
        text = svg_chart.svg(chart(
            svg_chart.Panel("requests / s", [line(0, 5, 10), line(1, 2, 3)], reference=[(0, 4), (2, 4)]),
            svg_chart.Panel("answers & more", [line(1, 1, 1), line(2, 2, 2)], marks=[(1.5, 1)]),
            bands=[(0.5, 1.5, "away")], reference="capacity", mark="done"))
        found = texts(text)
        for wanted in ("A <title>", "first", "second", "capacity", "done", "away", "requests / s", "answers & more",
                       "seconds", "10"):
            self.assertIn(wanted, found)
        self.assertEqual(found.count("away"), 1)

    def test_it_is_the_same_each_time(self):
        made = [svg_chart.svg(chart(svg_chart.Panel("y", [line(1, 2), line(2, 1)]))) for _ in range(2)]
        self.assertEqual(made[0], made[1])

    def test_it_has_light_and_dark_colors(self):
        text = svg_chart.svg(chart(svg_chart.Panel("y", [line(1, 2), line(2, 1)])))
        day, night = text.split("@media(prefers-color-scheme:dark)")
        for index, (light, dark, _) in enumerate(svg_chart.STYLES):
            self.assertIn(f".l{index}{{stroke:{light}}}", day)
            self.assertIn(f".l{index}{{stroke:{dark}}}", night)

    def test_a_line_has_gaps_where_values_are_missing(self):
        text = svg_chart.svg(chart(svg_chart.Panel("y", [line(1, 2, None, 4, 5), line(1, 1, 1, 1, 1)])))
        self.assertEqual(text.count('class="line l0" d="M'), 3)  # in the legend, before and after
        self.assertEqual(text.count('class="line l1" d="M'), 2)

    def test_many_points_stay_small(self):
        panels = [svg_chart.Panel("y", [[(x, x * 7 % 1000) for x in range(300)]] * 3) for _ in range(2)]
        self.assertLess(len(svg_chart.svg(chart(*panels))), 60_000)

    def test_lines_stay_inside_their_panel(self):
        text = svg_chart.svg(chart(svg_chart.Panel("y", [line(0, 1000), line(3, 4)])))
        path = [it.get("d") for it in xml.etree.ElementTree.fromstring(text).iter(NAMESPACE + "path")
                if it.get("class") == "line l0"][1]
        self.assertEqual(path, f"M{svg_chart.LEFT:.1f} {svg_chart.TOP + svg_chart.PANEL:.1f}"
                               f"L{svg_chart.WIDTH - svg_chart.RIGHT:.1f} {svg_chart.TOP:.1f}")
