"""People: whether two names are those of one person, as far as a name can tell."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Classes of letters that nobody sees: control and format characters, separators of lines."""
_FILLERS = frozenset(
    map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10)))
) | frozenset(map(chr, range(0xE0100, 0xE01F0)))
"""Letters of other classes that nobody sees either: fillers, and what chooses the form of the letter before."""


def person(name: str) -> str:
    """Bring a name to the form in which look-alikes are equal.

    Args:
        name: As somebody wrote it.

    Returns:
        Its letters without regard to capitals, widths, forms, letters that nobody sees, white space around, and what
        kind of white space is inside.

    Source:
        Unicode Standard Annex 15 (NFKC) and the Unicode Standard, section 3.13 (caseless matching).
    """
    blanked = (" " if letter.isspace() else letter for letter in name)
    seen = "".join(each for each in blanked if each not in _FILLERS and unicodedata.category(each) not in UNSEEN)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())
    return " ".join(folded.split())


def people(names: Iterable[str]) -> frozenset[str]:
    """Return the different people of some names.

    Args:
        names: As somebody wrote them.
    """
    return frozenset(map(person, names))


def is_among(name: str, names: Iterable[str]) -> bool:
    """Whether a name is that of one of some people.

    Args:
        name: As somebody wrote it.
        names: As somebody wrote them.
    """
    return person(name) in people(names)


def both_among(outer: Iterable[str], inner: Iterable[str]) -> tuple[str, ...]:
    """Return the people that both lists have, as the inner one writes them.

    Args:
        outer: Names.
        inner: Names.
    """
    known = people(outer)
    return tuple(name for name in inner if person(name) in known)
