"""The end that somebody puts to a run: what becomes of its calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stateward.errors import SessionBusy
from stateward.run.store.database import Database
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.stuck import Held, Stuck, cancelled_while, pay, pay_sync

Drive = Callable[..., Driven]


@pytest.mark.parametrize("do", [pay, pay_sync])
@pytest.mark.parametrize(("effect", "status"), [("once", "unknown"), ("idempotent", "failed"), ("pure", "failed")])
def test_async_tool_is_stopped_and_its_call_closed(
    drive: Drive, database: Database, do: Any, effect: Any, status: str
) -> None:
    """Of what may happen once nobody knows whether it did; the rest did not get to its end."""
    stuck = Stuck()
    cancelled_while(drive(compiled(do, box=[stuck.tool(effect)])), stuck.begun)
    assert stuck.stopped == ["tool"]
    assert [entry.status for entry in database.journal.entries("s1")] == [status]


@pytest.mark.parametrize(("effect", "status"), [("idempotent", "unknown"), ("pure", "failed")])
def test_sync_tool_is_left_to_its_thread(drive: Drive, database: Database, effect: Any, status: str) -> None:
    """It cannot be stopped: what it does is unknown, and the session waits for it (DESIGN decision 17)."""
    held = Held()
    driven = drive(compiled(pay, box=[held.tool(effect)]))
    with driven.running() as came:
        held.begun.wait()
        with pytest.raises(SessionBusy, match="the tool `pay` of"):
            driven.cancel(wait_s=0.2)
        held.release.set()
    assert came[0].status == "cancelled"
    assert [entry.status for entry in database.journal.entries("s1")] == [status]
