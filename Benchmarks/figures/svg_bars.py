"""Horizontal bars as SVG, with a dark mode. The same input gives the same bytes."""

from xml.sax.saxutils import escape

import svg_chart

WIDTH, ROW, LEFT, RIGHT, TOP, BOTTOM = 720, 22, 300, 56, 58, 44


class Bar:
    """A ratio with its label, and the goal, which may be missing."""

    def __init__(self, label, value, goal=None):
        self.label, self.value, self.goal = label, value, goal

    @property
    def is_met(self):
        return self.goal is None or self.value <= self.goal


def svg(title, bars, reference):
    """`reference` is the meaning of 1, which a line marks."""
    scale = svg_chart.steps(max([1.0] + [it for bar in bars for it in (bar.value, bar.goal or 0)]))
    bottom = TOP + ROW * len(bars)
    height = bottom + BOTTOM

    def x(value):
        return LEFT + value / scale[-1] * (WIDTH - LEFT - RIGHT)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title, {chr(34): "&quot;"})}">',
        f"<title>{escape(title)}</title>", f"<style>{_style()}</style>",
        f'<rect class="page" width="{WIDTH}" height="{height}"/>', _text(16, 20, title, "title"),
    ]
    parts += _legend(reference)
    for tick in scale:
        parts.append(f'<path class="{"one" if tick == 1 else "grid"}" d="M{x(tick):.1f} {TOP - 4}V{bottom}"/>')
        parts.append(_text(x(tick), bottom + 16, svg_chart.number(tick), "middle"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, bottom + 34, "ratio; shorter is faster", "middle"))
    for index, bar in enumerate(bars):
        top = TOP + ROW * index
        kind = "met" if bar.is_met else "missed"
        parts.append(_text(LEFT - 8, top + 14, bar.label, "end"))
        parts.append(f'<rect class="{kind}" x="{LEFT}" y="{top + 3}" width="{x(bar.value) - LEFT:.1f}" height="{ROW - 7}"/>')
        if bar.goal is not None:
            parts.append(f'<path class="goal" d="M{x(bar.goal):.1f} {top}V{top + ROW - 1}"/>')
        parts.append(_text(x(max(bar.value, bar.goal or 0)) + 5, top + 14, f"{bar.value:.2f}"))
    return "\n".join(parts + ["</svg>"]) + "\n"


def _legend(reference):
    parts, x = [], 16
    for name, sign in [("goal met, or none", '<rect class="met" x="{}" y="31" width="22" height="12"/>'),
                       ("goal missed", '<rect class="missed" x="{}" y="31" width="22" height="12"/>'),
                       ("goal", '<path class="goal" d="M{} 29v16"/>'), (f"1 = {reference}", "")]:
        if sign:
            parts.append(sign.format(x))
            x += 28
        parts.append(_text(x, 42, name))
        x += 20 + round(6.6 * len(name))
    return parts


def _style():
    def rules(page, text, grid, one, met, missed):
        return (f".page{{fill:{page}}}text{{fill:{text}}}.grid{{stroke:{grid}}}.one{{stroke:{one}}}"
                f".met{{fill:{met}}}.missed{{fill:{missed}}}.goal{{stroke:{text}}}")

    return ("text{font:12px system-ui,-apple-system,'Segoe UI',sans-serif}.title{font-weight:600;font-size:14px}"
            ".middle{text-anchor:middle}.end{text-anchor:end}.grid,.one{stroke-width:1}.goal{stroke-width:2}"
            + rules("#ffffff", "#24292f", "#e4e8ec", "#57606a", "#5b9bd5", "#e08a4f")
            + "@media(prefers-color-scheme:dark){"
            + rules("#0d1117", "#e6edf3", "#262c34", "#8b949e", "#3f7fbf", "#c2662d") + "}")


def _text(x, y, text, kind=""):
    attribute = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{attribute}>{escape(text)}</text>'
