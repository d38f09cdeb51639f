"""Delegation: who works next on which task, and what came of it; values of plain JSON in a supervisor's record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

FINISH = "FINISH"
"""The choice that ends a supervisor's work."""


@dataclass(frozen=True, slots=True)
class Delegation:
    """One member is to work."""

    member: str
    task: str = field(default="", kw_only=True)
    """What it is told, which is all it is told; empty for the supervisor's own task."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {"member": self.member, "task": self.task}


@dataclass(frozen=True, slots=True)
class Finish:
    """The work is done."""

    answer: Any = None
    """What it came to, plain JSON; None for the last answer of a member."""


Choice = str | Delegation | Finish | Sequence[str | Delegation]
"""What a choosing function says: a member's name or `FINISH`, a delegation, several of them, or the finish."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of one delegation."""

    member: str
    task: str
    ok: bool
    """Whether the member came to an answer of the kind that it must return."""
    value: Any
    """The answer as plain JSON, or why there is none."""

    @property
    def text(self) -> str:
        """The value as a model reads it."""
        return in_words(self.value)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {"member": self.member, "task": self.task, "ok": self.ok, "value": self.value}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Self:
        """Read it from plain JSON.

        Args:
            said: As `to_json` made it.
        """
        return cls(member=said["member"], task=said["task"], ok=said["ok"], value=said["value"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a supervisor stands when it has to choose."""

    task: str
    """Its own task."""
    results: tuple[Result, ...]
    """What came of the delegations since it was entered, in their order."""
    left: Mapping[str, int]
    """The members that may still be visited, each with how often, in the order in which they were declared."""
    state: Any
    """The state of the chart."""

    def last(self, member: str) -> Result | None:
        """Return what came of a member's last visit.

        Args:
            member: Its name.
        """
        return next((result for result in reversed(self.results) if result.member == member), None)

    @property
    def answer(self) -> Any:
        """The last answer of a member; else why there is none, in words."""
        good = [result for result in self.results if result.ok]
        if good:
            return good[-1].value
        return "\n".join(f"`{result.member}` came to no answer: {result.text}" for result in self.results)


def in_words(value: Any) -> str:
    """Return plain JSON as a model reads it.

    Args:
        value: A text stays what it is; what is no JSON is told as it prints.
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
