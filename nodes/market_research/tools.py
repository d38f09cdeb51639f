"""The tools of the teams: four that read, and one that writes a file under one folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import stateward as sw
from nodes.market_research.meaning import Meaning, passages_of
from nodes.market_research.page import read_page
from nodes.market_research.sources import Sources
from stateward.govern.work import Work

MOST_LETTERS = 4000
"""Of a page, and of what a search shows."""
MOST_FOUND = 6


def research_tools(sources: Sources, *, meaning: Meaning, out: Path) -> Sequence[Any]:
    """Make the tools.

    Args:
        sources: Where facts come from.
        meaning: Finds passages by meaning.
        out: The work directory; every session has a folder of its own in it.

    Returns:
        Governed tools; pass them to `compile`.
    """

    @sw.tool(effect="pure")
    def search_web(query: str) -> list[dict[str, Any]]:
        """Search the web; returns titles, addresses and the beginning of each text."""
        return [_hit(one) for one in sources.search(query)[:MOST_FOUND]]

    @sw.tool(effect="pure")
    def scrape_page(url: str) -> dict[str, str]:
        """Read one web page that a search has found; returns its title and text."""
        title, text = read_page(sources.page(url))
        return {"url": url, "title": title, "text": text[:MOST_LETTERS]}

    @sw.tool(effect="pure")
    def semantic_search(query: str, count: int = 3) -> list[dict[str, Any]]:
        """Find the passages of the document collection that are nearest in meaning; returns them with scores."""
        passages = [
            passage
            for each in sources.documents()
            for passage in passages_of(str(each.get("title")), url=str(each.get("url")), text=str(each.get("text")))
        ]
        nearest = meaning.nearest(query, passages=passages, count=min(max(count, 1), MOST_FOUND))
        return [{"title": p.title, "url": p.url, "text": p.text, "score": score} for p, score in nearest]

    @sw.tool(effect="pure")
    def find_patents(query: str) -> list[dict[str, Any]]:
        """Search patents; returns number, title, holder, year, status and abstract."""
        return [dict(one) for one in sources.patents(query)[:MOST_FOUND]]

    @sw.tool(effect="idempotent")
    def write_document(file: str, text: str, *, ctx: sw.ToolContext) -> dict[str, str]:
        """Write a Markdown document, `notes/NAME.md` or `reports/NAME.md`."""
        # The policy has found the place under the session's folder already; the file lies in another, which is kept.
        inside = os.path.relpath(file, os.path.realpath(ctx.work)) if os.path.isabs(file) else file
        place = write_under(out / ctx.work.name, inside, text=text)
        # Where that is on this machine is none of a model's business.
        return {"file": place.relative_to(os.path.realpath(out)).as_posix()}

    return (search_web, scrape_page, semantic_search, find_patents, write_document)


def _hit(found: Any) -> dict[str, Any]:
    return {key: str(found.get(key, ""))[:MOST_LETTERS] for key in ("title", "url", "content")}


def write_under(folder: Path, file: str, *, text: str) -> Path:
    """Write a file that lies in a folder, whatever links lead through it.

    Args:
        folder: The folder; made when it is not there.
        file: A path in it.
        text: The text.

    Returns:
        Where the file is.

    Raises:
        ValueError: The path leaves the folder, or could be read in two ways; nothing was touched.
    """
    place = Path(Work(folder=os.path.realpath(folder), resolve=os.path.realpath).placed(file, under=""))
    place.parent.mkdir(parents=True, exist_ok=True)
    # The last part may have become a link since it was looked at.
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
    with os.fdopen(handle, "w", encoding="utf-8") as opened:
        opened.write(text)
    return place
