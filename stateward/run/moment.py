"""One step of a session as it was: the state's keys, where the chart stood, what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from langgraph.types import StateSnapshot

from stateward.run.called import checkpoint_id
from stateward.run.checkpoint import CHANNEL, MAIN_BRANCH
from stateward.run.snapshot import control_in, written_at
from stateward.run.store.ask import Ask
from stateward.run.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Where a session stood after one step."""

    session: str
    step: int | None
    """LangGraph's number of the checkpoint."""
    checkpoint: str
    """Its id."""
    at_s: float
    """When it was written, in seconds since the epoch."""
    branch: str
    status: str
    """One of the status words."""
    path: tuple[str, ...]
    """The active state paths."""
    values: Mapping[str, Any]
    """The state's keys."""
    history: Mapping[str, tuple[str, ...]]
    """By superstate, the paths that it would resume."""
    asks: tuple[Ask, ...]
    """The questions that stood open then, as they are known now."""
    reason: Mapping[str, Any] | None
    """Why the run had ended, when it did not complete."""


def moment(snapshot: StateSnapshot, *, session: str, database: Database) -> Moment:
    """Read a checkpoint.

    Args:
        snapshot: From LangGraph.
        session: The session's id.
        database: Where its asks are.

    Returns:
        Where the session stood.
    """
    values = cast("dict[str, Any]", snapshot.values or {})
    control = control_in(snapshot)
    history: Mapping[str, list[str]] = control.get("history") or {}
    asks: Mapping[str, list[str]] = control.get("asks") or {}
    found = (database.asks.find(ask) for ids in asks.values() for ask in ids)
    return Moment(
        session=session,
        step=(snapshot.metadata or {}).get("step"),
        checkpoint=checkpoint_id(snapshot.config),
        at_s=written_at(snapshot),
        branch=control.get("branch") or MAIN_BRANCH,
        status=control.get("status", ""),
        path=tuple(control.get("at") or ()),
        values={key: value for key, value in values.items() if key != CHANNEL},
        history={path: tuple(targets) for path, targets in history.items()},
        asks=tuple(ask for ask in found if ask is not None),
        reason=control.get("reason"),
    )
