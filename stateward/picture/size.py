"""How large boxes and texts are, from what is written in them."""

from __future__ import annotations

from collections.abc import Sequence

from stateward.picture.metrics import width
from stateward.picture.scene import Box, Line

TITLE = 13.0
"""Size of a title's letters."""
SMALL = 11.0
"""Size of all other letters."""
ROW = 15.0
"""Height of a line of small text."""
HEAD = 20.0
"""Height of a title."""
MARGIN = 12.0
"""Between a box's border and what is inside."""
SIGN = 14.0
"""Width of a sign before a line, with its gap."""
BULLSEYE = 20.0
DOT = 12.0
CIRCLE = 24.0
FORK = (48.0, 5.0)
LEAST = (64.0, 34.0)
"""Of a state's box."""

Size = tuple[float, float]


def text(lines: Sequence[Line]) -> Size:
    """Return the size of lines of small text below each other.

    Args:
        lines: The lines.
    """
    widths = [width(line.text, size=SMALL, bold=line.taken) + (SIGN if line.sign else 0) for line in lines]
    return max(widths, default=0.0), ROW * len(lines)


def heading(box: Box) -> Size:
    """Return the size of a title with the lines below it.

    Args:
        box: The box.
    """
    wide, high = text(box.lines)
    return max(width(box.title, size=TITLE, bold=True), wide), HEAD + high


def closed(box: Box) -> Size:
    """Return the size of a box that has no boxes inside.

    Args:
        box: The box.
    """
    if box.kind == "initial":
        return DOT, DOT
    if box.kind == "history":
        return CIRCLE, CIRCLE
    if box.kind == "fork":
        return FORK
    wide, high = heading(box)
    if box.kind == "final":
        return max(BULLSEYE, wide + 4), BULLSEYE + 2 + high
    return max(LEAST[0], wide + 2 * MARGIN), max(LEAST[1], high + MARGIN)
