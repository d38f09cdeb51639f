"""The library: what fits a query, in which order."""

from __future__ import annotations

import pytest

from nodes.blog.library import MOST, Library
from tests.house.source import ROOT

LIBRARY = Library(ROOT / "samples" / "kb")


@pytest.mark.parametrize(
    ("query", "source"),
    [("returning goods", "returns"), ("Late parcels", "delays"), ("invoice", "invoices"), ("passwords", "login")],
)
def test_forms_of_a_word_find_each_other(query: str, source: str) -> None:
    """What is longer or shorter by an ending is the same word."""
    assert LIBRARY.search(query)[0]["source"] == source


@pytest.mark.parametrize("query", ["", "a b c", "xylophone", "?!"])
def test_nothing_shared_is_nothing_found(query: str) -> None:
    """No article is found for want of a better one."""
    assert LIBRARY.search(query) == []


def test_the_best_few_are_found() -> None:
    """With title and text, never more than so many."""
    found = LIBRARY.search("parcel delivery refund account order password")
    assert (len(found), [bool(note["title"] and note["text"]) for note in found]) == (MOST, [True] * MOST)
