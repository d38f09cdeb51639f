"""How wide a text is, without a display: the widths of Helvetica, which Arial, Arimo and Liberation Sans share."""

from __future__ import annotations

import unicodedata

_WIDTHS = {
    1015: "@",
    944: "W",
    889: "%",
    833: "Mm",
    778: "GOQ",
    722: "CDHNRUw",
    667: "&ABEKPSVXY",
    611: "FTZ",
    584: "+<=>~",
    556: "#$?0123456789L_abdeghnopqu",
    500: "Jcksvxyz",
    469: "^",
    389: "*",
    355: '"',
    334: "{}",
    333: "()-`r",
    278: " !,./:;I[\\]ft",
    260: "|",
    222: "ijl",
    191: "'",
}
"""Thousandths of the font's size."""

_WIDTH = {char: width for width, chars in _WIDTHS.items() for char in chars}
_OTHER = 600
_WIDE = 1000
_BOLD = 1.08
"""Bold letters are at most so much wider, on the average of a word."""


def width(text: str, *, size: float, bold: bool = False) -> float:
    """Return the width of one line.

    Args:
        text: The line.
        size: The font's size.
        bold: Whether it is set in bold.

    Returns:
        The width in the unit of `size`.
    """
    return sum(_char(char) for char in text) * size / 1000 * (_BOLD if bold else 1)


def _char(char: str) -> int:
    if unicodedata.east_asian_width(char) in "WF":
        return _WIDE
    plain = unicodedata.normalize("NFD", char)[0]
    return 0 if unicodedata.combining(char) else _WIDTH.get(plain, _OTHER)
