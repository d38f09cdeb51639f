"""A model that says anything: calls of tools that are not there, arguments of every kind, broken calls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from stateward.run.repair import dangling
from stateward.testing import Reply

NAMES = (
    *("calculate", "look_up", "get_temperature", "to_fahrenheit", "list_charges", "show_plan", "give_back"),
    *("quote", "headlines", "save_report", "transfer_to_WRITER", "transfer_to_RESEARCHER", "transfer_to_NOBODY"),
    *("", "  ", "x" * 300, "répondre", "\u202ecalc", "AGENT", "ask.approve"),
)
ARGUMENTS: Sequence[dict[str, Any]] = (
    {},
    *({"expression": text} for text in ("1+1", "9**9**9")),
    *({"celsius": number} for number in ("x", math.nan, math.inf, 18)),
    *({"file": file, "text": "t"} for file in ("reports/a.md", "../../x.md")),
    *({"note": note} for note in ("n", 5, None)),
    *({"symbol": "HARB"}, {"charge": "CH-103"}, {"city": "Oslo"}, {"a": {"b": [1, None]}}, {"text": "\ud800"}),
)
WORDS = (
    "",
    "  ",
    "hello",
    '{"answer": "x", "unit": "none"}',
    '```json\n{"answer": 1}\n```',
    "x" * 5000,
    "\x00",
    "\ud800",
)
CONTENTS: Sequence[Any] = ("", "say", [{"type": "text", "text": "block"}], [])


class Babbler:
    """It says something else each time, the same for the same seed; and notes histories that no provider would take.

    Args:
        seed: What it says.
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self.torn: list[Sequence[BaseMessage]] = []

    def replies(self, number: int) -> list[Reply]:
        """Return a script of so many replies."""
        return [self._say] * number

    def _say(self, messages: Sequence[BaseMessage]) -> AIMessage | str:
        if dangling(messages):
            self.torn.append(messages)
        if self._random.random() < 0.15:
            return self._random.choice(WORDS)
        return AIMessage(
            content=self._random.choice(CONTENTS),
            tool_calls=[self._call(number) for number in range(self._random.randint(0, 4))],
            invalid_tool_calls=[self._broken() for _ in range(self._random.choice((0, 0, 0, 1, 2)))],
        )

    def _call(self, number: int) -> Any:
        id = self._random.choice((f"c{number}", "same", "", None))
        args = self._random.choice(ARGUMENTS)
        return {"name": self._random.choice(NAMES), "args": args, "id": id, "type": "tool_call"}

    def _broken(self) -> Any:
        name = self._random.choice((*NAMES, None))
        return {"name": name, "args": "{broken", "id": None, "error": "e", "type": "invalid_tool_call"}
