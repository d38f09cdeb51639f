"""The notice board: the one thing outside that the patterns act on."""

from __future__ import annotations

from typing import Any

import stateward as sw
from stateward.effects import Completed, Looked, SafeToRetry


class Board:
    """What was published, in order; a crash cannot publish anything twice, since each post has its key."""

    def __init__(self) -> None:
        self.posts: list[str] = []
        self._by_key: dict[str, str] = {}

    def post(self, text: str, *, channel: str, key: str) -> str:
        """Publish a text.

        Args:
            text: The text.
            channel: Where.
            key: Of the call; a second post with the same one is the first.
        """
        if key not in self._by_key:
            self._by_key[key] = f"{channel}: {text}"
            self.posts.append(self._by_key[key])
        return self._by_key[key]

    def look(self, key: str) -> Looked:
        """Say what became of a call.

        Args:
            key: Of the call.
        """
        return Completed(self._by_key[key]) if key in self._by_key else SafeToRetry()


def board_tools(board: Board) -> list[Any]:
    """Return the tools over a board.

    Args:
        board: The board.
    """

    @sw.tool(effect="once", lookup=board.look)
    def publish(text: str, channel: str = "board", *, ctx: sw.ToolContext) -> str:
        """Publish a notice."""
        return board.post(text, channel=channel, key=ctx.idempotency_key)

    return [publish]
