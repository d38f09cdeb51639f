"""Where `graphs.react` looks things up: the shop's articles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import stateward as sw
from nodes.support_desk.kb import best_article, read_articles


def look_up_tool(folder: Path) -> Any:
    """Make the tool that looks an article up.

    Args:
        folder: Where the `.md` files lie.

    Returns:
        A governed tool; pass it to `compile`.

    Raises:
        ConfigError: The folder has no article.
    """
    articles = read_articles(folder)

    @sw.tool(effect="pure")
    def look_up(query: str) -> dict[str, str]:
        """Look up what the shop's handbook says on a question."""
        found = best_article(query, articles=articles)
        if found is None:
            raise ValueError("the handbook has no article on that")
        return {"title": found.title, "answer": " ".join(found.answers["en"].split())}

    return look_up
