"""People: whether two names are those of one person, as far as a name can tell."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Classes of letters that nobody sees: control and format characters, separators of lines."""


def person(name: str) -> str:
    """Bring a name to the form in which look-alikes are equal.

    Args:
        name: As somebody wrote it.

    Returns:
        Its letters without regard to capitals, widths, forms, letters that nobody sees, and white space around.

    Source:
        Unicode Standard Annex 15 (NFKC) and the Unicode Standard, section 3.13 (caseless matching).
    """
    seen = "".join(letter for letter in name if unicodedata.category(letter) not in UNSEEN)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())
    return " ".join(folded.split())


def people(names: Iterable[str]) -> frozenset[str]:
    """Return the different people of some names.

    Args:
        names: As somebody wrote them.
    """
    return frozenset(map(person, names))
