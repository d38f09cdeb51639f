"""How wide the columns of a table are, and where a text is broken that is wider than its column.

A name is broken behind a dot, not between any two letters: `DESK.RESEARCHER` is read, `DESK.RESEARCHE R` is not. Names
of keys, guards and files have other seams. What has none and is too long, such as a hash, is cut where the column ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, chop_cells

_PIECE = re.compile(r"[^\s._/:,;=-]*[._/:,;=-]+|[^\s._/:,;=-]+")
"""What a word is broken behind."""
_ITEM = re.compile(r"\S(?:[^;]|;(?! ))*;?")
"""What stands between two semicolons of a list, with the one behind it."""
_LONGEST = 20
"""Longer pieces do not make their column wider."""
_BORDER = 3
"""Columns of the screen that each column of a table takes beside its text."""


def widths(columns: Iterable[Sequence[str]], *, width: int) -> list[int] | None:
    """Share the width of a table among its columns.

    Args:
        columns: The texts of each, with its name.
        width: What there is, borders included.

    Returns:
        The width of each; None where not even the pieces of names fit.
    """
    cells = _lines_of(columns)
    left = width - 1 - _BORDER * len(cells)
    given = [_widest((piece for line in column for piece in _pieces(line)), most=_LONGEST) for column in cells]
    if sum(given) > left:
        return None
    words = [_widest((word for line in column for word in line.split()), most=2 * _LONGEST) for column in cells]
    return _raised(_kept_whole(given, words, left=left), [_widest(column) for column in cells], left=left)


def natural(columns: Iterable[Sequence[str]]) -> int:
    """Return how wide a table is in which nothing is broken.

    Args:
        columns: The texts of each, with its name.
    """
    cells = _lines_of(columns)
    return sum(map(_widest, cells)) + _BORDER * len(cells) + 1


def _lines_of(columns: Iterable[Sequence[str]]) -> list[list[str]]:
    return [[line for text in column for line in text.splitlines()] for column in columns]


def _widest(texts: Iterable[str], *, most: int | None = None) -> int:
    widest = max(map(cell_len, texts), default=0)
    return widest if most is None else min(widest, most)


def _kept_whole(given: Sequence[int], wanted: Sequence[int], *, left: int) -> list[int]:
    """Give the columns what keeps their words whole, or nothing more; the first ones first: they name the row."""
    raised, left = list(given), left - sum(given)
    for place, wish in enumerate(wanted):
        more = max(wish - raised[place], 0)
        if more <= left:
            raised[place] += more
            left -= more
    return raised


def _raised(given: Sequence[int], wanted: Sequence[int], *, left: int) -> list[int]:
    """Give the columns what they want, the least wish first, until there is no more: the others share what is left."""
    raised, left = list(given), left - sum(given)
    order = sorted(range(len(given)), key=lambda place: wanted[place] - given[place])
    for count, place in enumerate(order):
        more = max(min(wanted[place] - raised[place], left // (len(order) - count)), 0)
        raised[place] += more
        left -= more
    return raised


def broken(text: str, *, width: int) -> str:
    """Break the lines of a text that are wider than a column.

    Args:
        text: The text.
        width: Of the column, ≥ 1.
    """
    return "\n".join(part for line in text.splitlines() for part in _lines(line, width=width))


def _lines(line: str, *, width: int) -> list[str]:
    if cell_len(line) <= width:
        return [line]
    lines = [""]
    for item in _ITEM.findall(line):
        if lines[-1] and cell_len(f"{lines[-1]} {item}") > width:
            lines.append("")  # it begins where it is seen to begin
        for word in item.split():
            _put(lines, word, width=width)
    return lines


def _put(lines: list[str], word: str, *, width: int) -> None:
    """Add a word to the last line, or to lines of its own."""
    gap = " " if lines[-1] else ""
    for part in [word] if cell_len(word) <= width else _pieces(word):
        if cell_len(lines[-1] + gap + part) <= width:
            lines[-1] += gap + part
        else:
            lines[-1:] = [*filter(None, lines[-1:]), *chop_cells(part, width)]
        gap = ""


def _pieces(text: str) -> list[str]:
    return _PIECE.findall(text)
