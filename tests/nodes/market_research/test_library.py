"""The collection, and how words find its texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.market_research.library import Library
from nodes.market_research.ranking import ranked, words
from stateward.errors import ConfigError


def test_the_samples_are_about_twenty_texts(library: Library) -> None:
    """Pages, documents and patents, each with a title."""
    assert (len(library.pages), len(library.documents), len(library.patents)) == (8, 8, 5)
    assert all(each.title and each.text for each in library.texts)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("What does a trip with Kreisbox cost?", "pages/kreisbox.html"),
        ("washing hubs and hygiene", "documents/washing.md"),
        ("reuse quotas", "pages/regulation.html"),
    ],
)
def test_a_query_finds_the_text_that_shares_its_rarest_words(library: Library, query: str, path: str) -> None:
    """And never the list of links."""
    found = [document.path for document, _ in library.search(query)]
    assert (found[0], "pages/index.html" in found) == (path, False)


def test_patents_are_found_by_holder_and_words(library: Library) -> None:
    """Title, holder and abstract count."""
    assert library.find_patents("Tagwerk radio tags")[0]["number"] == "XP-1057702"


def test_a_folder_without_texts_is_an_error(tmp_path: Path) -> None:
    """It names the folder."""
    with pytest.raises(ConfigError, match="pages, documents or patents"):
        Library.read(tmp_path)


def test_a_word_that_all_texts_have_says_nothing() -> None:
    """A text that shares only such words is not found."""
    assert ranked("blue boxes", texts=["boxes", "boxes", "blue boxes"]) == [(2, pytest.approx(1.0986, abs=1e-3))]


def test_words_are_compared_without_accents_and_endings() -> None:
    """So that a plural finds a singular."""
    assert words("Boxes, café trips") == words("box cafe trip")
