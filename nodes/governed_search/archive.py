"""The archive: Markdown articles in a folder, tools over them, and the tools that it has to be asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import stateward as sw
from nodes.support_desk.kb import Article, best_article, read_articles

Offer = Mapping[str, str]
"""A tool as the archive tells of it: its `name`, and what it is `about`."""
PURGE: Offer = {"name": "purge_archive", "about": "deletes every article"}
"""What an archive offers as well; no policy lists it."""


class Archive:
    """The articles of a folder.

    Args:
        folder: Where the `.md` files lie.
    """

    def __init__(self, folder: Path) -> None:
        self._articles = {_reading(article): article for article in read_articles(folder)}

    def offers(self) -> list[Offer]:
        """Say which tools there are: one for each article, and one that nobody should call."""
        return [*({"name": name, "about": each.title} for name, each in self._articles.items()), PURGE]

    def best(self, query: str) -> str:
        """Return the name of the tool that reads the article which fits a query best."""
        found = best_article(query, articles=self._articles.values())
        return "" if found is None else _reading(found)

    def tool(self, offer: Offer) -> Any:
        """Make the tool that was found.

        Args:
            offer: As `offers` told it.
        """
        article = self._articles.get(offer["name"])
        if article is None:
            return sw.tool(effect="once", name=offer["name"])(_purge)
        return sw.tool(effect="pure", name=offer["name"])(_reader(article))


def _reading(article: Article) -> str:
    """The name of the tool that reads an article."""
    return f"read_{article.slug.replace('-', '_')}"


def _reader(article: Article) -> Any:
    def read(lines: int = 20) -> dict[str, str]:
        """Read the beginning of an article."""
        return {"title": article.title, "text": "\n".join(article.text.splitlines()[:lines])}

    return read


def _purge() -> str:
    """Delete every article; here nothing is deleted, since it must never be called."""
    return "deleted"


def archive_tools(archive: Archive) -> Sequence[Any]:
    """Make the tools that are known before anything is found.

    Args:
        archive: The archive.

    Returns:
        Governed tools; pass them to `compile`.
    """

    @sw.tool(effect="pure")
    def list_tools() -> list[Offer]:
        """List the tools that the archive offers."""
        return archive.offers()

    @sw.tool(effect="pure")
    def find_articles(query: str) -> dict[str, str]:
        """Find the tool that reads the article which fits best."""
        return {"tool": archive.best(query)}

    @sw.tool(effect="idempotent")
    def connect_archive(reason: str) -> dict[str, str]:
        """Connect to the archive, so that a later run may read from it."""
        return {"connected": "archive", "reason": reason}

    @sw.tool(effect="idempotent")
    def save_note(file: str, text: str, *, ctx: sw.ToolContext) -> dict[str, str]:
        """Keep a note in the session's folder."""
        target = ctx.work / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return {"file": file}

    return (list_tools, find_articles, connect_archive, save_note)
