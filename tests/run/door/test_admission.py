"""Admission: what is refused because of the time, by whom it is told, and that a replay refuses it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.govern.kinds.pace import Pace
from stateward.govern.policy import Fuses, Policy
from stateward.testing import ManualClock, ScriptedModel
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.replayed import same
from tests.charts.tools import Shop

Drive = Callable[..., Driven]
SLOW = Policy(name="paced", pace=Pace(calls_per_minute=2, turns_per_minute=1), call_timeout_s=20)


@pytest.fixture
def shop() -> Shop:
    return Shop()


async def lookups(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("lookup", order=str(n))).status for n in range(3)]}


def lookups_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": [run.tool("lookup", order=str(n)).status for n in range(3)]}


@pytest.mark.parametrize("do", [lookups, lookups_sync])
def test_a_call_that_would_wait_too_long_is_denied(drive: Drive, shop: Shop, do: Any) -> None:
    """It is not made, and the reason says when it would be possible."""
    driven = drive(compiled(do, box=shop.box, policy=SLOW))
    assert driven.start({}).values["log"] == ["ok", "ok", "denied"]
    denied = [row.record for row in driven.session.database.audit.rows("s1") if row.record["event"] == "denied"]
    assert "`pace.calls_per_minute` in `WORK` is 2, and the next call is possible in 60 s" in denied[0]["reason"]


async def asks(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.model().ainvoke("hello")).text for _ in range(2)]}


def asks_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": [run.model().invoke("hello").text for _ in range(2)]}


@pytest.mark.parametrize("do", [asks, asks_sync])
def test_a_model_call_that_would_wait_too_long_is_an_event(drive: Drive, do: Any) -> None:
    """A chart may react to `fuse.policy`: the activity has no observation to read."""
    graph = compiled(do, models={"m": ScriptedModel.of("a")}, model="m", policy=SLOW, handles=["fuse.policy"])
    driven = drive(graph)
    assert driven.start({}).path == "HELP"
    driven.resume("close")
    assert same(driven)


def test_working_time_stops_model_calls(drive: Drive, clock: ManualClock) -> None:
    """The second call comes when the run has worked for as long as it may."""

    def reply(messages: Any) -> str:
        clock.advance(10.0)
        return "a"

    policy = Policy(name="w", fuses=Fuses(runtime_s=10))
    driven = drive(compiled(asks, models={"m": ScriptedModel.of(reply)}, model="m", policy=policy))
    halted = driven.start({})
    assert (halted.status, (halted.reason or {})["event"]) == ("halted", "fuse.runtime_s")
    assert same(driven)


def test_a_replay_refuses_the_same_at_any_time(drive: Drive, shop: Shop) -> None:
    """What was denied because of the pace is denied again, and nothing waits."""
    driven = drive(compiled(lookups, box=shop.box, policy=SLOW))
    driven.start({})
    assert same(driven)
