"""Findings in words: lines of Markdown that say a fact and where it is from, which rules and models read alike."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from nodes.market_research.ranking import ranked

ADDRESS = re.compile(r"(?<![\w./])(?:https?://|/)[^\s()<>\"'`,]+")
"""An address, or a path of the local server."""
SOURCE = re.compile(r"\(([^()\s]+)\)\s*$")
"""A source at the end of a line."""
MOST_LINES = 4
"""Lines of one text that are kept."""
MOST_LETTERS = 320
"""Letters of a line."""


def line(text: str, *, source: str) -> str:
    """Make one line.

    Args:
        text: The fact.
        source: Where it is from.
    """
    plain = " ".join(text.split())
    return f"- {plain if len(plain) <= MOST_LETTERS else plain[:MOST_LETTERS].rstrip() + ' …'} ({source})"


def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines of findings in a text.

    Args:
        text: Any text.
    """
    return tuple(one.strip() for one in text.splitlines() if one.startswith("- "))


def addresses_in(text: str, *, most: int) -> tuple[str, ...]:
    """Return the addresses that a text names, each once.

    Args:
        text: Any text.
        most: How many at most.
    """
    found = (address.rstrip(".;:!?") for address in ADDRESS.findall(text))
    return tuple(dict.fromkeys(found))[:most]


def sources_in(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the sources of findings, each once.

    Args:
        lines: The findings.
    """
    return tuple(dict.fromkeys(found[1] for one in lines if (found := SOURCE.search(one))))


def concerning(question: str, *, title: str, text: str) -> tuple[str, ...]:
    """Return the lines of a text that have most to do with a question, in the order of the text.

    Args:
        question: What is asked.
        title: The title, which is no line to tell.
        text: The text.
    """
    parts = [part for part in text.splitlines() if part.strip() not in ("", title)]
    places = sorted(place for place, _ in ranked(question, texts=parts)[:MOST_LINES])
    return tuple(parts[place] for place in places or range(min(1, len(parts))))


def records_in(text: str) -> list[dict[str, Any]]:
    """Read the JSON objects that a tool has told, one or a list of them; none when it is something else.

    Args:
        text: The observation.
    """
    try:
        said: Any = json.loads(text)
    except ValueError:
        return []
    several = cast("list[Any]", said) if isinstance(said, list) else [said]
    return [cast("dict[str, Any]", one) for one in several if isinstance(one, dict)]
