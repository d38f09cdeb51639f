"""Where a post's facts come from: the articles of a folder, searched by the words they share with a query."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

import stateward as sw
from nodes.support_desk.kb import Article, read_articles

MOST = 3
"""Articles that one search finds."""
SHORTEST = 4
"""Letters of a word that counts, and that two forms of one have in common at their beginning."""


class Note(TypedDict):
    """What was found."""

    source: str
    """The article's file, without its ending."""
    title: str
    text: str


class Library:
    """The articles of a folder.

    Args:
        folder: Where the `.md` files lie.
    """

    def __init__(self, folder: Path) -> None:
        self._articles = [(each, _words(f"{each.title} {each.keywords}")) for each in read_articles(folder)]

    def search(self, query: str) -> list[Note]:
        """Find the articles that fit a query best; rare words weigh more.

        Args:
            query: A few words.

        Returns:
            The best first, equals by their file's name; none when no article shares a word with it.
        """
        asked = _words(query)
        scores = [(self._score(asked, words), each) for each, words in self._articles]
        best = sorted((pair for pair in scores if pair[0]), key=lambda pair: (-round(pair[0], 9), pair[1].slug))
        return [_note(each) for _, each in best[:MOST]]

    def _score(self, asked: frozenset[str], words: frozenset[str]) -> float:
        return sum(self._rarity(word) for word in asked if _has(words, word))

    def _rarity(self, word: str) -> float:
        holders = sum(_has(words, word) for _, words in self._articles)
        return math.log(1.0 + len(self._articles) / holders)


def library_tools(library: Library) -> Sequence[Any]:
    """Make the tools over a library.

    Args:
        library: The library.

    Returns:
        Governed tools; pass them to `compile`.
    """

    @sw.tool(effect="pure")
    def search_notes(query: str) -> list[Note]:
        """Find the articles of the library that fit a query best."""
        return library.search(query)

    return (search_notes,)


def _note(article: Article) -> Note:
    return Note(source=article.slug, title=article.title, text=article.text.partition("\n")[2].strip() or article.text)


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in re.findall(r"\w+", text.casefold()) if len(word) >= SHORTEST)


def _has(words: frozenset[str], word: str) -> bool:
    """Whether a word is there, in this form or in one that is longer or shorter: `return` and `returning`."""
    return any(each.startswith(word) or word.startswith(each) for each in words)
