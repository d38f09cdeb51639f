"""Word search: which texts share the rarest words with a query."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

SHORTEST_WORD = 3
ENDINGS = ("ing", "es", "s")
"""What is cut from the end of a word, so that a plural finds a singular."""


def ranked(query: str, *, texts: Sequence[str]) -> list[tuple[int, float]]:
    """Rank texts by the words that they share with a query.

    Args:
        query: What is looked for.
        texts: The texts.

    Returns:
        Place of each text that shares a word, and its score, best first.
    """
    known = [words(text) for text in texts]
    rarity = {word: _rarity(word, known) for word in words(query)}
    scores = [
        (place, round(sum(rarity[word] for word in rarity if word in held), 6)) for place, held in enumerate(known)
    ]
    return sorted(((place, score) for place, score in scores if score > 0), key=lambda pair: (-pair[1], pair[0]))


def words(text: str) -> frozenset[str]:
    """Return the words of a text, without accents and endings.

    Args:
        text: Any text.
    """
    plain = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(c if c.isalnum() else " " for c in plain if not unicodedata.combining(c))
    return frozenset(_stem(word) for word in letters.split() if len(word) >= SHORTEST_WORD)


def _stem(word: str) -> str:
    ending = next((e for e in ENDINGS if word.endswith(e) and len(word) - len(e) >= SHORTEST_WORD), "")
    return word.removesuffix(ending)


def _rarity(word: str, known: Sequence[frozenset[str]]) -> float:
    holders = sum(word in held for held in known)
    # A word that most texts have says nothing about one of them.
    return math.log(len(known) / holders) if holders else 0.0
