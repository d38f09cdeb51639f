"""Steps in which a run was stopped from outside: it was cancelled, or its time was over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from stateward.run.alarm import EVENT
from stateward.run.brake import Halt
from stateward.run.replay.recording import Moment

CANCELLED = "cancelled"


def halt_in(expected: Moment | None) -> Halt | None:
    """Return what stopped a run in a recorded step; None for a step that it took by itself.

    Args:
        expected: Where the step led; None at the end of the record.
    """
    if expected is None or expected.source != "step" or expected.last.get("event") not in (CANCELLED, EVENT):
        return None
    event = str(expected.last["event"])
    reason: Mapping[str, Any] = expected.control.get("reason") or {}
    if reason.get("event") == event and "taken" not in expected.last:
        status = cast("Literal['cancelled', 'halted']", expected.control["status"])
        return Halt(status=status, event=event, data=reason.get("data") or {})
    brought: Mapping[str, Any] = expected.control.get("event") or {}
    return Halt(status="halted", event=event, data=brought.get("data") or {}, is_event=True)
