# SPDX-License-Identifier: BSD-3-Clause
"""Draws plots with lines or bars as SVG, for the pages in docs/."""
import html
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 340, 76, 130, 40, 56
COLOURS = ("#2f6fb0", "#3d8f5f", "#b0642f", "#8a6fb0")
BAR, GAP, NAMES = 20, 10, 220
REFERENCES = ("limit", "sendfile", "read and send")  # bars of what is compared with, not of ours


def text(x, y, words, how=""):
    return f'<text x="{x:.1f}" y="{y:.1f}"{how}>{html.escape(words)}</text>'


def frame(width, height, title):
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">')
    yield f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    yield text(10, 20, title, ' font-weight="bold"')


def short(value):
    """Returns a number as text with Ki or Mi, if the number is a multiple: 1024 is "1 Ki"."""
    for power, unit in ((20, " Mi"), (10, " Ki")):
        if value >= 1 << power and value % (1 << power) == 0:
            return f"{int(value) >> power}{unit}"
    return f"{value:g}"


def ticks(most):
    """Returns about five round numbers for an axis, from 0 to at least `most`."""
    step = 10 ** math.floor(math.log10(most / 4)) if most > 0 else 1
    for factor in (5, 2):
        if most / (step * factor) >= 4:
            step *= factor
            break
    return [step * i for i in range(int(most / step) + 2)]


def lines(title, across, up, series):
    """Draws lines. `series` is {name: [(x, y)]}; the scale of x is logarithmic."""
    xs = sorted({x for points in series.values() for x, _ in points})
    marks = ticks(max(y for points in series.values() for _, y in points))
    low, span = math.log2(xs[0]), max(math.log2(xs[-1] / xs[0]), 1)

    def place(x, y):
        return (LEFT + (math.log2(x) - low) / span * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y / marks[-1] * (HEIGHT - TOP - BOTTOM))

    yield from frame(WIDTH, HEIGHT, title)
    for mark in marks:
        _, y = place(xs[0], mark)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#dddddd"/>'
        yield text(LEFT - 8, y + 4, f"{mark:,.0f}", ' text-anchor="end"')
    for x in xs:
        yield text(place(x, 0)[0], HEIGHT - BOTTOM + 18, short(x), ' text-anchor="middle"')
    yield text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, across, ' text-anchor="middle"')
    yield text(LEFT, TOP - 6, up)
    # By name, so that a name has the same colour in all plots of the same things.
    for colour, (name, points) in zip(COLOURS, sorted(series.items())):
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*point) for point in points))
        yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        for x, y in (place(*point) for point in points):
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
        yield text(WIDTH - RIGHT + 10, place(*points[-1])[1] + 4, name, f' fill="{colour}"')
    yield "</svg>"


def bars(title, rows):
    """Draws bars, green ones of what is compared with. `rows` is [(name, value, unit)]."""
    most = max(value for _, value, _ in rows)
    yield from frame(WIDTH, TOP + len(rows) * (BAR + GAP) + 10, title)
    for i, (name, value, unit) in enumerate(rows):
        y, size = TOP + i * (BAR + GAP), value / most * (WIDTH - NAMES - RIGHT)
        colour = COLOURS[1 if name.endswith(REFERENCES) else 0]
        yield text(NAMES - 10, y + 14, name, ' text-anchor="end"')
        yield f'<rect x="{NAMES}" y="{y}" width="{size:.1f}" height="{BAR}" fill="{colour}"/>'
        yield text(NAMES + size + 6, y + 14, f"{value:,.0f} {unit}")
    yield "</svg>"
