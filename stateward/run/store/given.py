"""What one person said to an ask, and how a column of the table tells it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from stateward.govern.person import people

Decision = Literal["approve", "reject", "edit", "respond"]
"""What a person says about a call.

approve: it may be made as it was shown. reject: it is not made. edit: another call is made in its place, if every check
lets that pass. respond: it is not made, and the model is told something by the person.
"""
DECISIONS: tuple[Decision, ...] = ("approve", "reject", "edit", "respond")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One answer of one person."""

    by: str
    decision: Decision
    note: str = ""
    at: float = 0.0
    """Seconds since the epoch."""
    tool: str = ""
    """Of an edit: what is called; empty for the tool that was shown."""
    arguments: Mapping[str, Any] | None = None
    """Of an edit: with which arguments, all of them."""
    value: Any = None
    """JSON. What is said to a question that an activity puts; see `kind`."""


def approvers_of(answers: Iterable[Given]) -> frozenset[str]:
    """Return the different people who approved.

    Args:
        answers: The answers.
    """
    return people(each.by for each in answers if each.decision == "approve")


def to_json(answers: Iterable[Given]) -> list[dict[str, Any]]:
    """Return answers as plain JSON.

    Args:
        answers: The answers.
    """
    return [asdict(each) for each in answers]


def from_json(said: Iterable[Mapping[str, Any]]) -> tuple[Given, ...]:
    """Read answers.

    Args:
        said: From `to_json`.
    """
    return tuple(Given(**each) for each in said)
