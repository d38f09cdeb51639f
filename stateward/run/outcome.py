"""Where a session stands, and what became of an event that was sent to it: the values that calls return."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any, cast

from stateward.chart.definition import Definition
from stateward.run.checkpoint import CHANNEL, TERMINAL, Control, decode, wakes_at
from stateward.run.store.mailbox import Letter


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Where a session stands after a call."""

    session: str
    status: str
    """One of the status words."""
    path: str
    """The active state; with `.ask` while a person is asked."""
    values: Mapping[str, Any]
    """The state's keys."""
    asks: tuple[str, ...] = ()
    """Ids of the open asks."""
    reason: Mapping[str, Any] | None = None
    """Why the run ended, when it did not complete."""
    wakes_at: float | None = None
    """When the first pending timer is due, in seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What became of an event that was sent."""

    outcome: Outcome | None
    """Where the session stands, when this call went on with it; None when somebody else runs it."""
    letter: Letter | None = None
    """The event in the mailbox, when somebody else ran the session; its status says whether it was taken yet."""

    @property
    def taken(self) -> bool:
        """Whether a transition took the event; False while its turn has not come."""
        return self.letter is None or self.letter.status == "taken"


def outcome_of(session: str, values: object, *, chart: Definition) -> Outcome:
    """Read where a session stands.

    Args:
        session: Its id.
        values: Those of its latest checkpoint, with the control channel.
        chart: The definition of its graph.

    Returns:
        The outcome; with the status `new` where no run was ever started.
    """
    raw = cast("dict[str, Any]", values or {})
    control = decode(raw.get(CHANNEL) or {}, chart)
    if control is None:
        return Outcome(session=session, status="new", path="", values=raw)
    # At its end the questions of a run were taken back.
    asked = dict[str, list[str]]() if control.status in TERMINAL else control.asks
    return Outcome(
        session=session,
        status=control.status,
        path=_path(control, chart, asked),
        values={key: value for key, value in raw.items() if key != CHANNEL},
        asks=tuple(ask for ids in asked.values() for ask in ids),
        reason=control.reason,
        wakes_at=wakes_at(control.raw),
    )


def _path(control: Control, chart: Definition, asked: Container[str]) -> str:
    paths = [chart.nodes[index].path for index in control.configuration.atomic(chart)]
    return ", ".join(f"{path}.ask" if path in asked else path for path in paths)
