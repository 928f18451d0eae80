"""The output of the program Resilience as plots and as the tables of docs/resilience.md. Called by plots.

The folder holds a file of comma-separated values for each scenario (the seconds, then a column `CURVE CONTENDER` for
each line) and summary.csv (scenario, contender, figure, value; an empty value means that the event did not occur).
"""

import csv
import os
import re

import svg_chart


class Problem(Exception):
    pass


FLEETS = {"none": "no retry", "naive": "naive retry", "ours": "Apus"}
ARRANGEMENTS = {"none": "in order of arrival", "priorities": "priorities", "hold": "images held"}


class Scenario:
    """The presentation of a scenario.

    `panels` are (curve, label); `columns` are (figure, heading, text for no value).
    """

    def __init__(self, title, panels, columns, **other):
        self.title, self.panels, self.columns = title, panels, columns
        self.contenders = other.get("contenders", FLEETS)
        self.bands = other.get("bands", [])
        self.references = other.get("references", {})
        # The window of the moving average, in values: random delays of single callers would hide the trend.
        self.smoothed = other.get("smoothed", 1)
        # A figure in seconds shown as a vertical line, its offset on the axis, and its legend.
        self.mark = other.get("mark")


def _half_capacity(title):
    return Scenario(
        title,
        [("answers", "useful responses / s"), ("load", "requests / s")],
        [("answers during", "useful responses per second, at half capacity", "–"),
         ("load during", "requests per second, at half capacity", "–"),
         ("load peak", "peak requests per second", "–"),
         ("answers after", "useful responses per second, the minute after", "–"),
         ("recovery", "seconds until recovery", "not within 120")],
        bands=[(30, 90, "half the capacity")], smoothed=3,
        references={"load": [(0, 200), (30, 200), (30, 100), (90, 100), (90, 200), (209, 200)]})


def _retry_storm(title):
    return Scenario(
        title,
        [("arrivals", "requests / s"), ("answered", "apps served")],
        [("arrivals", "requests after the return", "–"), ("peak", "peak per second", "–"),
         ("mean", "mean per second", "–"), ("peak to mean", "peak to mean", "–"),
         ("answered", "served of 1,000", "–"), ("most answered", "seconds until 95 % are", "not within 75"),
         ("all answered", "seconds until all are", "not within 75")],
        bands=[(5, 15, "down")],
        references={"arrivals": [(0, 150), (5, 150), (5, 0), (15, 0), (15, 150), (89, 150)]})


SCENARIOS = {
    "half-capacity": _half_capacity("Half the capacity for a minute, behind a long queue"),
    "half-capacity-short-queue": _half_capacity("Half the capacity for a minute, behind a short queue"),
    "retry-storm": _retry_storm("1,000 apps, their server down for ten seconds"),
    "retry-storm-retry-after": _retry_storm("1,000 apps, their server down for ten seconds; 503 with Retry-After"),
    "half-capacity-endpoints": _half_capacity("Half the capacity for a minute, a long queue, 20 endpoints"),
    "half-capacity-short-queue-endpoints": _half_capacity("Half the capacity for a minute, a short queue, 20 endpoints"),
    "retry-storm-endpoints": _retry_storm("1,000 apps, their server down for ten seconds, 20 endpoints"),
    "retry-storm-retry-after-endpoints": _retry_storm(
        "1,000 apps, their server down for ten seconds; 503 with Retry-After, 20 endpoints"),
    "failing-endpoint": Scenario(
        "One of ten endpoints responds 503 for a minute",
        [("answers", "useful responses / s"), ("attempts", "requests to the failing endpoint / s")],
        [("calls to others", "calls to the other nine", "–"), ("refused", "failed or refused of these", "–"),
         ("attempts", "requests per second to the failing endpoint", "–"),
         ("recovery", "seconds until it has served 20 calls again", "not within 30")],
        bands=[(10, 70, "one endpoint fails")], smoothed=3),
    "held-images": Scenario(
        "A list requested after 200 images, on a slow link",
        [("images", "images received")],
        [("list", "seconds until the list", "not within 30"), ("first image", "until the first image", "–"),
         ("all images", "until all images", "not all")],
        contenders=ARRANGEMENTS, mark=("list", 0.1, "list received")),
}


def curves(path):
    """{column: [value or None]} of one file, including the seconds."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    if not rows or rows[0][:1] != ["seconds"]:
        raise Problem(f"{path}: the first line does not begin with 'seconds'")
    columns = zip(*rows[1:]) if len(rows) > 1 else [()] * len(rows[0])
    return {name: [float(it) if it else None for it in values] for name, values in zip(rows[0], columns)}


def summary(path):
    """{(scenario, contender, figure): value or None} of summary.csv."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {(it["scenario"], it["contender"], it["figure"]): float(it["value"]) if it["value"] else None
            for it in rows}


def smoothed(values, count):
    """The moving average of values; the window is smaller at the ends."""
    reach = count // 2
    means = []
    for index, value in enumerate(values):
        near = [it for it in values[max(0, index - reach) : index + reach + 1] if it is not None]
        means.append(sum(near) / len(near) if value is not None else None)
    return means


def chart(name, columns, figures):
    """One scenario's curves as a chart."""
    scenario, panels = SCENARIOS[name], []
    for curve, label in scenario.panels:
        lines = []
        for contender in scenario.contenders:
            if f"{curve} {contender}" not in columns:
                raise Problem(f"{name}.csv has no column '{curve} {contender}'")
            values = smoothed(columns[f"{curve} {contender}"], scenario.smoothed)
            lines.append(list(zip(columns["seconds"], values)))
        suffix = f", mean of {scenario.smoothed} s" if scenario.smoothed > 1 else ""
        panels.append(svg_chart.Panel(
            label + suffix, lines, scenario.references.get(curve, []), _marks(name, scenario, figures)))
    return svg_chart.Chart(
        scenario.title, list(scenario.contenders.values()), panels, bands=scenario.bands,
        reference="the server's capacity" if scenario.references else "",
        mark=scenario.mark[2] if scenario.mark else "")


def _marks(name, scenario, figures):
    if scenario.mark is None:
        return []
    figure, later, _ = scenario.mark
    found = [(figures.get((name, contender, figure)), index) for index, contender in enumerate(scenario.contenders)]
    return [(value + later, index) for value, index in found if value is not None]


def table(name, figures):
    """One scenario's figures as a Markdown table."""
    scenario = SCENARIOS[name]
    lines = ["| | " + " | ".join(heading for _, heading, _ in scenario.columns) + " |",
             "|---" * (len(scenario.columns) + 1) + "|"]
    for contender, label in scenario.contenders.items():
        cells = []
        for figure, _, none in scenario.columns:
            if (name, contender, figure) not in figures:
                raise Problem(f"summary.csv has no figure '{figure}' of {contender} in {name}")
            value = figures[name, contender, figure]
            cells.append(none if value is None else _number(value))
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _number(value):
    return svg_chart.number(round(value) if abs(value) >= 100 else value)


_BLOCK = re.compile(r"(<!-- figures:(?P<name>[\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(text, figures):
    """The document with the figures in its blocks `<!-- figures:NAME -->` … `<!-- end -->`."""
    def block(match):
        name = match["name"]
        if name == "seed":
            made = f"Seed {figures['run', 'all', 'seed']:.0f}."
        elif name in SCENARIOS:
            made = table(name, figures)
        else:
            raise Problem(f"there are no figures '{name}'")
        return f"{match[1]}{made}\n{match[3]}"

    filled, count = _BLOCK.subn(block, text)
    if count == 0 or count != text.count("<!-- figures:"):
        raise Problem("a document needs blocks from '<!-- figures:NAME -->' to '<!-- end -->'")
    return filled


def draw(folder, out):
    """Writes a plot for each scenario; returns their paths."""
    figures = summary(os.path.join(folder, "summary.csv"))
    os.makedirs(out, exist_ok=True)
    paths = []
    for name in SCENARIOS:
        path = os.path.join(out, name + ".svg")
        text = svg_chart.svg(chart(name, curves(os.path.join(folder, name + ".csv")), figures))
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        paths.append(path)
    return paths
