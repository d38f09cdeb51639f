"""A recorded run as a value: what it was given, step by step what it came to, and how its calls ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from stateward.run.checkpoint import MAIN_BRANCH, Json
from stateward.run.store.ask import Ask
from stateward.run.store.entry import Entry
from stateward.run.store.mailbox import Letter

Source = Literal["input", "step", "edit"]
"""What made a checkpoint: an input that opened the run, a step of the chart, or somebody from outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Where a run stood: one of its checkpoints."""

    step: int
    """LangGraph's number of the checkpoint."""
    checkpoint: str
    """Its id."""
    source: Source
    values: Mapping[str, Any]
    """The state's keys."""
    control: Json
    """The control channel."""
    next: tuple[str, ...]
    """The node that runs next; empty at an end."""
    given: Any = None
    """What the run was opened with, as admission let it pass; of the first one only."""
    resumed: bool = False
    """Whether a wait was resumed here."""
    payload: Any = None
    """With what."""
    update: tuple[tuple[str, Any], ...] = ()
    """The values that came along."""
    context: str = ""
    """The digest of the context of the call that made it; empty when there was none."""

    @property
    def branch(self) -> str:
        """The line of checkpoints."""
        return self.control.get("branch") or MAIN_BRANCH

    @property
    def last(self) -> Json:
        """What the step did that led here."""
        return self.control.get("last") or {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One run of a session."""

    graph: str
    """The graph's name."""
    session: str
    tenant: str
    run: str
    run_no: int
    """Its number in the session, from 1."""
    before: Moment | None
    """Where the session stood when the run was opened; None for its first."""
    moments: tuple[Moment, ...]
    """The oldest first; the first one is the input taken."""
    calls: tuple[Entry, ...] = ()
    """In the order in which they were begun."""
    asks: tuple[Ask, ...] = ()
    letters: tuple[Letter, ...] = ()
    notes: tuple[Mapping[str, Any], ...] = field(default=())
    """What the audit log says of the run, in its order."""
    contexts: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """The contexts of its calls by their digests, as `run/context_record.py` writes them down."""

    @property
    def pins(self) -> Mapping[str, str]:
        """The hashes that the run was pinned to, and its mode."""
        run: Json = self.moments[0].control["run"] if self.moments else {"hashes": {}, "mode": ""}
        return {**run["hashes"], "mode": run["mode"]}


def is_news(expected: Moment, present: Moment) -> bool:
    """Tell whether a recorded step took something from outside: a letter, an answer, or a timer that was due.

    Args:
        expected: Where the step led.
        present: Where it began.
    """
    last = expected.last
    if (last.get("letters") or {}).get("taken") or last.get("event") == "answer":
        return True
    pending: Mapping[str, Any] = expected.control.get("timers") or {}
    timers: Mapping[str, Any] = present.control.get("timers") or {}
    return any(no not in pending and timer["event"]["name"] == last.get("event") for no, timer in timers.items())
