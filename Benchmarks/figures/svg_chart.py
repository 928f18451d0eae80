"""Line charts as SVG, with a dark mode. The same input gives the same bytes.

A chart has panels one below another that share the horizontal axis. Lines differ in color and dashes.
"""

import math
from xml.sax.saxutils import escape

WIDTH, PANEL, GAP = 720, 190, 34
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 58, 44
TICKS = 5

# Line styles, in the order in which a chart's lines use them: color by day, color at night, dashes.
STYLES = [("#6a737d", "#9da7b3", "7 4"), ("#c2410c", "#ff8a4c", "2 2.5"), ("#0b5fcc", "#5aa9ff", "")]


class Panel:
    """One plot: `lines` are lists of (x, y) with y `None` in gaps; `reference` is a thin line behind them; `marks` are
    (x, index of a line)."""

    def __init__(self, label, lines, reference=(), marks=()):
        self.label, self.lines, self.reference, self.marks = label, lines, reference, marks


class Chart:
    """`names` are the names of the lines in every panel; `bands` are (from, to, text) in units of the horizontal axis;
    `reference` and `mark` are the legend's texts for reference lines and marks."""

    def __init__(self, title, names, panels, **other):
        self.title, self.names, self.panels = title, names, panels
        self.x_label, self.bands = other.get("x_label", "seconds"), other.get("bands", ())
        self.reference, self.mark = other.get("reference", ""), other.get("mark", "")


def steps(highest, count=TICKS):
    """Round numbers from zero up to at least `highest`."""
    if highest <= 0:
        return [0, 1]
    power = 10 ** math.floor(math.log10(highest / count))
    step = next(it * power for it in (1, 2, 5, 10) if it * power * count >= highest * (1 - 1e-9))
    return [round(step * index, 10) for index in range(math.ceil(highest / step - 1e-9) + 1)]


def number(value):
    """The number with at most one decimal and commas between thousands."""
    text = f"{value:,.1f}"
    return text[:-2] if text.endswith(".0") else text


def svg(chart):
    xs = [x for panel in chart.panels for line in panel.lines for x, _ in line]
    last = max(xs, default=1) or 1
    height = TOP + len(chart.panels) * (PANEL + GAP) - GAP + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(chart.title, {chr(34): "&quot;"})}">',
        f"<title>{escape(chart.title)}</title>", f"<style>{_style()}</style>",
        f'<rect class="page" width="{WIDTH}" height="{height}"/>',
        _text(LEFT, 20, chart.title, "title"),
    ]
    parts += _legend(chart)
    for index, panel in enumerate(chart.panels):
        parts += _panel(chart, panel, TOP + index * (PANEL + GAP), last)
    bottom = TOP + len(chart.panels) * (PANEL + GAP) - GAP
    for tick in steps(last, 10):
        if tick <= last:
            parts.append(_text(_x(tick, last), bottom + 16, number(tick), "middle"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, bottom + 34, chart.x_label, "middle"))
    return "\n".join(parts + ["</svg>"]) + "\n"


def _style():
    def rules(page, text, grid, axis, band, colors):
        lines = "".join(f".l{index}{{stroke:{it}}}.d{index}{{fill:{it}}}" for index, it in enumerate(colors))
        return (f".page{{fill:{page}}}text,circle{{fill:{text}}}.grid{{stroke:{grid}}}.axis,.ref{{stroke:{axis}}}"
                f".band{{fill:{band}}}{lines}")

    dashes = "".join(f".l{index}{{stroke-dasharray:{it[2]}}}" for index, it in enumerate(STYLES) if it[2])
    return ("text{font:12px system-ui,-apple-system,'Segoe UI',sans-serif}.title{font-weight:600;font-size:14px}"
            ".middle{text-anchor:middle}.end{text-anchor:end}.grid,.axis{stroke-width:1}"
            ".ref{fill:none;stroke-width:1;stroke-dasharray:1 2}"
            ".line{fill:none;stroke-width:2;stroke-linejoin:round}" + dashes
            + rules("#ffffff", "#24292f", "#e4e8ec", "#57606a", "#fff0dc", [it[0] for it in STYLES])
            + "@media(prefers-color-scheme:dark){"
            + rules("#0d1117", "#e6edf3", "#262c34", "#8b949e", "#2f2617", [it[1] for it in STYLES]) + "}")


def _legend(chart):
    parts, x = [], LEFT
    entries = [(name, f'<path class="line l{index}" d="M{{}} 38h28"/>') for index, name in enumerate(chart.names)]
    entries += [(chart.reference, '<path class="ref" d="M{} 38h28"/>')] if chart.reference else []
    entries += [(chart.mark, '<circle cx="{}" cy="38" r="4"/>')] if chart.mark else []
    for name, sign in entries:
        parts.append(sign.format(x + 22 if "circle" in sign else x))
        parts.append(_text(x + 34, 42, name))
        x += 52 + round(6.6 * len(name))
    return parts


def _panel(chart, panel, top, last):
    values = [y for line in [*panel.lines, panel.reference] for _, y in line if y is not None]
    scale = steps(max(values, default=1))
    bottom = top + PANEL

    def y(value):
        return bottom - value / scale[-1] * PANEL

    parts = []
    for start, end, text in chart.bands:
        left, right = _x(start, last), _x(min(end, last), last)
        parts.append(f'<rect class="band" x="{left:.1f}" y="{top}" width="{right - left:.1f}" height="{PANEL}"/>')
        if panel is chart.panels[0]:
            parts.append(_text((left + right) / 2, top + 14, text, "middle"))
    for tick in scale:
        parts.append(f'<path class="{"grid" if tick else "axis"}" d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(_text(LEFT - 6, y(tick) + 4, number(tick), "end"))
    parts.append(f'<text class="middle" transform="translate(14 {top + PANEL / 2:.0f}) rotate(-90)">'
                 f"{escape(panel.label)}</text>")
    parts += [f'<path class="ref" d="{path}"/>' for path in _paths(panel.reference, last, y)]
    for index, line in enumerate(panel.lines):
        parts += [f'<path class="line l{index}" d="{path}"/>' for path in _paths(line, last, y)]
    for x, index in panel.marks:
        parts.append(f'<path class="line l{index}" d="M{_x(x, last):.1f} {top}V{bottom}"/>')
        parts.append(f'<circle class="d{index}" cx="{_x(x, last):.1f}" cy="{top}" r="4"/>')
    return parts


def _paths(points, last, y):
    """The pieces of a line between its gaps."""
    pieces, piece = [], []
    for x, value in [*points, (0, None)]:
        if value is not None:
            piece.append(f"{_x(x, last):.1f} {y(value):.1f}")
        elif piece:
            pieces.append("M" + "L".join(piece))
            piece = []
    return pieces


def _x(value, last):
    return LEFT + value / last * (WIDTH - LEFT - RIGHT)


def _text(x, y, text, kind=""):
    attribute = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{attribute}>{escape(text)}</text>'
