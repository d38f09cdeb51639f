"""A layout as SVG: plain shapes and text, no script, no font of its own, the same bytes for the same layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape as escaped

from stateward.picture.layout import Layout, Placed, Stroke, Text
from stateward.picture.scene import Line, Scene
from stateward.picture.size import BULLSEYE, HEAD, MARGIN, ROW, SIGN, SMALL, TITLE

EDGE = 8.0
"""Around the whole picture."""
FONT = "Helvetica, Arial, Arimo, Liberation Sans, sans-serif"
CARD, TINT, STATE = "#ffffff", "#f4f6fa", "#e9eef6"
"""The chart's own ground, a superstate's, a state's: light ones, so that a picture reads the same on a dark page."""
INK, SOFT, PALE = "#1f2430", "#566072", "#a9b2c0"
BLUE, BLUE_PALE = "#1f6feb", "#dcebff"
AMBER, AMBER_PALE = "#b7791f", "#ffe9ad"

_SIGNS = {
    "fuse": f'<path fill="{AMBER}" d="M6 0L1 6.4H4.4L3.4 11L9 4.4H5.4Z"/>',
    "ask": f'<path fill="{BLUE}" d="M2.6 2.9a2.4 2.4 0 1 1 4.8 0a2.4 2.4 0 1 1 -4.8 0M.6 11C.6 4.6 9.4 4.6 9.4 11Z"/>',
    "clock": f'<path fill="none" stroke="{SOFT}" stroke-width="1.2" '
    'd="M.8 5.5a4.4 4.4 0 1 1 8.8 0a4.4 4.4 0 1 1 -8.8 0M5.2 2.8V5.6H7.2"/>',
}


def svg(scene: Scene, layout: Layout) -> str:
    """Write a picture down.

    Args:
        scene: What it shows.
        layout: Where everything goes.

    Returns:
        An SVG document with a title and a description for those who do not see it.
    """
    return "\n".join(_document(scene, layout)) + "\n"


def _document(scene: Scene, layout: Layout) -> Iterator[str]:
    width, height = layout.width + 2 * EDGE, layout.height + 2 * EDGE
    size = f'width="{_n(width)}" height="{_n(height)}" viewBox="0 0 {_n(width)} {_n(height)}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} font-family="{FONT}" font-size="{_n(SMALL)}">'
    yield f"<title>Statechart {_plain(scene.name)}</title>"
    yield f"<desc>{_plain(_told(scene))}</desc>"
    yield f'<g transform="translate({_n(EDGE)} {_n(EDGE)})">'
    for placed in layout.boxes:
        if placed.inside:
            yield from _around(placed)
    for (x, y), (end_x, end_y) in layout.rules:
        yield f'<path d="M{_n(x)} {_n(y)}L{_n(end_x)} {_n(end_y)}" stroke="{SOFT}" stroke-dasharray="5 4" fill="none"/>'
    for stroke in sorted(layout.strokes, key=lambda stroke: stroke.taken):
        yield from _stroke(stroke)
    for placed in layout.boxes:
        yield from _heading(placed) if placed.inside else _closed(placed)
    for text in layout.texts:
        yield from _beside(text)
    yield "</g>"
    yield "</svg>"


def _told(scene: Scene) -> str:
    """Tell in words what the picture shows."""
    names = {box.number: box.path or box.kind for box in scene.boxes}
    states = [
        box.path + (" (active)" if box.active else "") for box in scene.boxes if box.path and box.kind != "history"
    ]
    arrows = [
        f"{names[arrow.source]} to {names[arrow.target]}"
        + "".join(f", {line.text}{' (taken)' if line.taken else ''}" for line in arrow.lines)
        + (" (taken)" if arrow.taken and not arrow.lines else "")
        for arrow in scene.arrows
    ]
    return f"States: {', '.join(states)}. Transitions: {'; '.join(arrows)}."


def _around(placed: Placed) -> Iterator[str]:
    if placed.frame == "column":
        return
    dashes = ' stroke-dasharray="5 4"' if placed.frame == "dashed" else ""
    ground = "none" if placed.frame == "dashed" else _ground(placed.box.parent < 0)
    stroke, width = _border(placed)
    yield (
        _rect(placed, radius=10, fill=ground, stroke=PALE if placed.box.parent < 0 else stroke, width=width)
        + dashes
        + "/>"
    )


def _border(placed: Placed) -> tuple[str, float]:
    if placed.box.active:
        return AMBER, 2
    return (BLUE, 2) if placed.box.visited else (SOFT, 1)


def _rect(placed: Placed, *, radius: float, fill: str, stroke: str, width: float) -> str:
    place = f'x="{_n(placed.x)}" y="{_n(placed.y)}" width="{_n(placed.width)}" height="{_n(placed.height)}"'
    return f'<rect {place} rx="{_n(radius)}" fill="{fill}" stroke="{stroke}" stroke-width="{_n(width)}"'


def _heading(placed: Placed) -> Iterator[str]:
    box = placed.box
    slant = ' font-style="italic"' if placed.frame == "column" else ""
    x, y = placed.x + MARGIN, placed.y + MARGIN / 2
    ground = _ground(box.parent < 0)
    yield _title(box.title, x=x, y=y + TITLE + 1, more=slant, ground=ground)
    yield from _lines(box.lines, x=x, y=y + HEAD, ground=ground)


def _closed(placed: Placed) -> Iterator[str]:
    kind = placed.box.kind
    if kind == "initial":
        x, y = _middle(placed)
        yield f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(placed.width / 2)}" fill="{INK}"/>'
    elif kind == "fork":
        yield _rect(placed, radius=1, fill=BLUE if placed.box.visited else INK, stroke="none", width=0) + "/>"
    elif kind == "history":
        yield from _history(placed)
    elif kind == "final":
        yield from _final(placed)
    else:
        yield from _state(placed)


def _state(placed: Placed) -> Iterator[str]:
    box = placed.box
    stroke, width = _border(placed)
    ground = AMBER_PALE if box.active else BLUE_PALE if box.visited else STATE
    yield "<g>"
    yield f"<title>{_plain(box.path)}</title>"
    yield _rect(placed, radius=7, fill=ground, stroke=stroke, width=width) + "/>"
    if box.lines:
        yield _title(box.title, x=placed.x + MARGIN, y=placed.y + MARGIN / 2 + TITLE + 1, more="", ground="")
        yield from _lines(box.lines, x=placed.x + MARGIN, y=placed.y + MARGIN / 2 + HEAD, ground="")
    else:
        x, y = _middle(placed)
        yield _title(box.title, x=x, y=y + TITLE * 0.36, more=' text-anchor="middle"', ground="")
    yield "</g>"


def _final(placed: Placed) -> Iterator[str]:
    """A bull's eye with its name below."""
    x, _ = _middle(placed)
    y, radius = placed.y + BULLSEYE / 2, BULLSEYE / 2
    marked = AMBER if placed.box.active else BLUE if placed.box.visited else INK
    yield f"<g><title>{_plain(placed.box.path)}</title>"
    rim = f'fill="{CARD}" stroke="{marked}" stroke-width="1.5"'
    yield f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius - 0.75)}" {rim}/>'
    yield f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius - 4)}" fill="{marked}"/>'
    below, ground = placed.y + BULLSEYE + 2, _ground(placed.box.parent == 0)
    yield _title(placed.box.title, x=x, y=below + TITLE, more=' text-anchor="middle"', ground=ground)
    yield from _lines(placed.box.lines, x=placed.x, y=below + HEAD, ground=ground)
    yield "</g>"


def _history(placed: Placed) -> Iterator[str]:
    x, y = _middle(placed)
    yield f"<g><title>{_plain(placed.box.path)}</title>"
    radius = placed.width / 2 - 0.5
    yield f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" fill="{CARD}" stroke="{_border(placed)[0]}"/>'
    yield _title(placed.box.title, x=x, y=y + TITLE * 0.36, more=' text-anchor="middle"', ground="") + "</g>"


def _stroke(stroke: Stroke) -> Iterator[str]:
    ink, width = (BLUE, 2.2) if stroke.taken else (SOFT, 1.2)
    first, *rest = (f"{_n(x)} {_n(y)}" for x, y in stroke.points)
    curve = f"M{first}C{' '.join(rest)}"
    yield f'<path d="{curve}" fill="none" stroke="{ink}" stroke-width="{_n(width)}" stroke-linecap="round"/>'
    if stroke.tip is not None:
        yield f'<path d="{_tip(stroke)}" fill="{ink}"/>'


def _tip(stroke: Stroke) -> str:
    (x, y), (tip_x, tip_y) = stroke.points[-1], stroke.tip or stroke.points[-1]
    long = ((tip_x - x) ** 2 + (tip_y - y) ** 2) ** 0.5 or 1.0
    wide = 3.6 if stroke.taken else 3.0
    side_x, side_y = (tip_y - y) / long * wide, (x - tip_x) / long * wide
    left, right = (x + side_x, y + side_y), (x - side_x, y - side_y)
    return f"M{_n(tip_x)} {_n(tip_y)}L{_n(left[0])} {_n(left[1])}L{_n(right[0])} {_n(right[1])}Z"


def _beside(text: Text) -> Iterator[str]:
    yield from _lines(text.lines, x=text.x, y=text.y, ground=_ground(text.level == 0))


def _lines(lines: Sequence[Line], *, x: float, y: float, ground: str) -> Iterator[str]:
    for number, line in enumerate(lines):
        top = y + ROW * number
        if line.sign:
            yield f'<g transform="translate({_n(x)} {_n(top + 2)})">{_SIGNS[line.sign]}</g>'
        look = f'fill="{BLUE}" font-weight="bold"' if line.taken else f'fill="{SOFT}"'
        place = f'x="{_n(x + (SIGN if line.sign else 0))}" y="{_n(top + SMALL)}"'
        yield f"<text {place} {look}{_halo(ground)}>{_plain(line.text)}</text>"


def _halo(ground: str) -> str:
    """Return a rim in the colour of the ground, so that a line behind a text does not cross it."""
    return f' stroke="{ground}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"' if ground else ""


def _ground(on_chart: bool) -> str:
    return CARD if on_chart else TINT


def _title(title: str, *, x: float, y: float, more: str, ground: str) -> str:
    place = f'x="{_n(x)}" y="{_n(y)}" font-size="{_n(TITLE)}" font-weight="bold"'
    return f'<text {place} fill="{INK}"{more}{_halo(ground)}>{_plain(title)}</text>'


def _plain(text: str) -> str:
    """Return text without markup, and without what XML cannot hold."""
    return escaped("".join(char if char.isprintable() else " " for char in text))


def _middle(placed: Placed) -> tuple[float, float]:
    return placed.x + placed.width / 2, placed.y + placed.height / 2


def _n(number: float) -> str:
    """Return a number with at most one decimal."""
    return f"{round(number, 1):g}" if abs(number) < 100000 else str(round(number))
