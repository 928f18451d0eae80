"""A target's folders as SVG: boxes in layers, arrows from a folder down to the folders whose types it mentions.

Arrows implied by a longer path are left out; all arrows of a cycle are drawn, in red. The same graph gives the same
bytes, and the picture has a dark mode.
"""

from xml.sax.saxutils import escape

BOX, GAP, HEIGHT, STEP, MARGIN, TOP = 116, 22, 34, 76, 20, 64
LANE = 26  # the width of an arrow that passes through a layer
SWEEPS = 24
NOTE = "An arrow points to a folder whose types are mentioned; arrows implied by a longer path are left out."
_CHARACTER = 6.3  # the width of a character of the note, to keep the note inside the picture


def svg(target, graph):
    """The picture of one target."""
    rows = [list(layer) for layer in reversed(graph.layers())]
    row_of = {folder: index for index, row in enumerate(rows) for folder in row}
    paths = [_path(rows, row_of, arrow) for arrow in graph.direct()]
    _order(rows, paths)
    place, width = _places(rows, len(NOTE) * _CHARACTER + 2 * MARGIN)
    height = TOP + (len(rows) - 1) * STEP + HEIGHT + MARGIN
    cyclic = {folder: number for number, group in enumerate(graph.cycles()) for folder in group}

    title = f"The folders of {target}"
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             f'role="img" aria-label="{escape(title)}">', f"<title>{escape(title)}</title>", f"<style>{_style()}</style>",
             "<defs>" + _arrow_head("tip") + _arrow_head("red-tip") + "</defs>",
             f'<rect class="page" width="{width}" height="{height}"/>',
             f'<text class="title" x="{MARGIN}" y="24">{escape(title)}</text>',
             f'<text class="note" x="{MARGIN}" y="42">{escape(NOTE)}</text>']
    for stops in paths:
        ends = stops[0], stops[-1]
        red = ends[0] in cyclic and cyclic[ends[0]] == cyclic.get(ends[1])
        parts.append(_curve(stops, place, row_of, red))
    for row in rows:
        for folder in row:
            if isinstance(folder, str):
                parts.append(_box(folder, place[folder], row_of[folder], folder in cyclic))
    return "\n".join(parts + ["</svg>"]) + "\n"


def _path(rows, row_of, arrow):
    """The stops of an arrow: its ends and, in each layer between, a lane, which is added to the row."""
    start, end = arrow
    stops = [start]
    for row in range(row_of[start] + 1, row_of[end]):
        lane = (start, end, row)
        rows[row].append(lane)
        stops.append(lane)
    return stops + [end]


def _order(rows, paths):
    """Sorts each row by the positions of its neighbors, so that few arrows cross."""
    links = {}
    for stops in paths:
        for a, b in zip(stops, stops[1:]):
            links.setdefault(a, []).append(b)
            links.setdefault(b, []).append(a)
    for sweep in range(SWEEPS):
        order = range(1, len(rows)) if sweep % 2 == 0 else range(len(rows) - 2, -1, -1)
        for index in order:
            beside = rows[index - 1 if sweep % 2 == 0 else index + 1]
            at = {it: (place + 0.5) / len(beside) for place, it in enumerate(beside)}
            own = {it: (place + 0.5) / len(rows[index]) for place, it in enumerate(rows[index])}

            def center(it):
                near = [at[other] for other in links.get(it, []) if other in at]
                return (sum(near) / len(near) if near else own[it]), own[it]

            rows[index].sort(key=center)


def _places(rows, least):
    """The horizontal center of every box and lane, and the picture's width."""
    def size(it):
        return BOX if isinstance(it, str) else LANE

    widths = [sum(map(size, row)) + GAP * (len(row) - 1) for row in rows]
    width = round(max(max(widths) + 2 * MARGIN, least))
    place = {}
    for row, taken in zip(rows, widths):
        x = (width - taken) / 2
        for it in row:
            place[it] = x + size(it) / 2
            x += size(it) + GAP
    return place, width


def _top(row):
    return TOP + row * STEP


def _curve(stops, place, row_of, red):
    start, end = stops[0], stops[-1]
    kind = "red" if red else "arrow"
    tip = "red-tip" if red else "tip"
    if row_of[start] == row_of[end]:  # inside a cycle: an arc below the row, from side to side
        a, b, y = place[start], place[end], _top(row_of[start]) + HEIGHT
        depth = 16 + 8 * (place[start] > place[end])
        shift = 10 if a < b else -10
        line = f"M{a + shift:.1f} {y}C{a + shift:.1f} {y + depth} {b - shift:.1f} {y + depth} {b - shift:.1f} {y + 3}"
    else:
        row = row_of[start]
        x, y = place[start], _top(row) + HEIGHT
        line = f"M{x:.1f} {y}"
        for stop in stops[1:]:
            row += 1
            to_x, to_y = place[stop], _top(row) - (3 if stop == end else 0)
            half = (to_y - y) / 2
            line += f"C{x:.1f} {y + half:.1f} {to_x:.1f} {to_y - half:.1f} {to_x:.1f} {to_y}"
            x, y = to_x, to_y
            if stop != end:
                y += HEIGHT
                line += f"V{y}"
    return f'<path class="{kind}" marker-end="url(#{tip})" d="{line}"/>'


def _box(folder, x, row, in_cycle):
    name = "files beside" if folder == "." else folder
    kind = "box in-cycle" if in_cycle else "box"
    return (f'<rect class="{kind}" x="{x - BOX / 2:.1f}" y="{_top(row)}" width="{BOX}" height="{HEIGHT}" rx="6"/>'
            f'<text class="name" x="{x:.1f}" y="{_top(row) + 22}">{escape(name)}</text>')


def _arrow_head(name):
    return (f'<marker id="{name}" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            f'<path class="{name}" d="M0 0L8 4L0 8z"/></marker>')


def _style():
    def rules(page, text, line, box, red):
        return (f".page{{fill:{page}}}text{{fill:{text}}}.arrow{{stroke:{line}}}.tip{{fill:{line}}}"
                f".box{{fill:{box};stroke:{line}}}.red,.in-cycle{{stroke:{red}}}.red-tip{{fill:{red}}}")

    return ("text{font:12px system-ui,-apple-system,'Segoe UI',sans-serif}.title{font-weight:600;font-size:14px}"
            ".name{text-anchor:middle}.arrow,.red{fill:none;stroke-width:1.3}.box{stroke-width:1}"
            + rules("#ffffff", "#24292f", "#8c959f", "#f3f5f7", "#c2410c")
            + "@media(prefers-color-scheme:dark){" + rules("#0d1117", "#e6edf3", "#6e7681", "#1c2128", "#ff8a4c") + "}")
