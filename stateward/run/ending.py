"""The end that somebody puts to a run: everything it began comes to a known end, and its last checkpoint says why.

Calls that were being made are closed in the journal, questions are taken back, and tool calls of the history get an
answer. None of it needs the chart that began the run, so that a run can be ended after its chart changed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from stateward.run.brake import Halt
from stateward.run.checkpoint import Json
from stateward.run.store.database import Database
from stateward.run.store.entry import Entry

CANCELLED = {"type": "cancelled", "reason": "the run was stopped before the call had ended"}
"""What the journal says of a call that may be made again, but never will be."""

Place = tuple[str, int]
"""A state's path and activation."""


def end_delta(raw: Mapping[str, Any], halt: Halt) -> Json:
    """Return what the control channel says of a run that was ended.

    Args:
        raw: The channel's value.
        halt: Why it was ended.
    """
    state = ", ".join(raw.get("at") or ())
    return {
        "status": halt.status,
        "asks": None,
        "reason": {"event": halt.event, "state": state, "data": dict(halt.data)},
        "last": {"event": halt.event, "state": state},
    }


def close_calls(
    database: Database,
    session: str,
    raw: Mapping[str, Any],
    *,
    threaded: Collection[str],
    fence: int | None,
    places: Collection[Place] | None = None,
) -> None:
    """Close the calls of a run that were being made: nobody waits for them any more.

    Args:
        database: The journal.
        session: The session's id.
        raw: The control channel's value.
        threaded: The tools that run in threads, which go on although their call was given up.
        fence: The writer's fencing token.
        places: Only those of these activations; None for all.
    """
    opened: Mapping[str, Any] = raw.get("run") or {}
    run, branch = opened.get("id"), raw.get("branch")
    with database.transaction(session):
        for entry in database.journal.entries(session, run=run) if run else ():
            key = entry.key
            is_concerned = key.branch == branch and (places is None or (key.path, key.activation) in places)
            if entry.status == "started" and is_concerned:
                status = _status(entry, threaded)
                error = None if status == "unknown" else CANCELLED
                database.journal.settle(key, status=status, error=error, fence=fence)


def _status(entry: Entry, threaded: Collection[str]) -> Literal["failed", "unknown"]:
    """A thread goes on: what its tool does in the end nobody knows, unless it does nothing (DESIGN decision 17)."""
    goes_on = entry.kind == "tool" and entry.name in threaded and entry.effect != "pure"
    return "unknown" if entry.effect == "once" or goes_on else "failed"


def withdraw(database: Database, session: str, raw: Mapping[str, Any], *, fence: int | None) -> None:
    """Take back the questions of a run.

    Args:
        database: The asks.
        session: The session's id.
        raw: The control channel's value.
        fence: The writer's fencing token.
    """
    asks: Mapping[str, list[str]] = raw.get("asks") or {}
    if asks:
        database.asks.withdraw(session, [ask for ids in asks.values() for ask in ids], fence=fence)
