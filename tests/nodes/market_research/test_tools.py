"""The tools: what reads, and what writes under one folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nodes.market_research.meaning import Meaning, passages_of
from nodes.market_research.sources import Sources
from nodes.market_research.tools import research_tools, write_under
from nodes.support_desk.encoder import WordLlama


@pytest.fixture
def tools(sources: Sources, tmp_path: Path) -> dict[str, Any]:
    """Each tool's function by name."""
    made = research_tools(sources, meaning=Meaning(WordLlama.open), out=tmp_path)
    return {tool.name: tool.fn for tool in made}


def test_a_search_is_followed_by_reading(tools: dict[str, Any]) -> None:
    """What a search finds can be read as it is named there."""
    first = tools["search_web"]("Kreisbox prices")[0]
    assert tools["scrape_page"](first["url"])["title"] == "Kreisbox: prices and plans"


def test_a_search_by_meaning_finds_other_words(tools: dict[str, Any]) -> None:
    """The question shares hardly a word with the text; each document counts once."""
    found = tools["semantic_search"]("Are they cleaned between two customers?", 3)
    assert "/documents/washing.md" in [one["url"] for one in found]
    assert len({one["url"] for one in found}) == 3


def test_patents_are_found(tools: dict[str, Any]) -> None:
    """With their holders."""
    assert tools["find_patents"]("closed circle of water")[0]["holder"] == "LoopCrate"


class Counting:
    """An encoder that counts what it encodes."""

    def __init__(self) -> None:
        self.seen = 0

    def encode(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        self.seen += len(texts)
        return tuple((float("a" in text), 1.0) for text in texts)


def test_a_passage_is_encoded_once() -> None:
    """The second search encodes its query alone."""
    encoder, passages = Counting(), passages_of("T", url="u", text="a" * 50 + "\n" + "b" * 50)
    meaning = Meaning(lambda: encoder)
    for _ in range(2):
        meaning.nearest("a", passages=passages, count=1)
    assert (len(passages), encoder.seen) == (2, 4)


def test_a_file_is_written_under_the_folder(tmp_path: Path) -> None:
    """Folders are made on the way."""
    place = write_under(tmp_path / "work", "reports/a.md", text="x")
    assert (place, place.read_text()) == (tmp_path / "work" / "reports" / "a.md", "x")


@pytest.mark.parametrize(
    "file", ["../a.md", "reports/../../a.md", "/etc/a.md", "~/a.md", "a\\..\\..\\b.md", "%2e%2e/a.md"]
)
def test_a_path_that_leaves_the_folder_is_refused_before_anything_is_touched(tmp_path: Path, file: str) -> None:
    """However it is written."""
    with pytest.raises(ValueError, match=r"\bit\b"):
        write_under(tmp_path / "work", file, text="x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("link", ["reports", "reports/a.md"])
def test_a_link_that_leads_out_is_refused(tmp_path: Path, link: str) -> None:
    """A folder or a file; what it leads to stays as it is."""
    (work := tmp_path / "work").mkdir()
    (outside := tmp_path / "a.md").write_text("mine")
    place = work / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(tmp_path if link == "reports" else outside)
    with pytest.raises(ValueError, match="leaves"):
        write_under(work, "reports/a.md", text="x")
    assert outside.read_text() == "mine"
