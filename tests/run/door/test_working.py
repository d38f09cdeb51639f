"""Working time: what counts, where it is kept, when its fuse trips, and how a person gives more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.govern.policy import Fuses, Policy
from stateward.run.door.tool import Tool
from stateward.testing import ManualClock
from tests.charts.beside import Beside
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.replayed import same

Drive = Callable[..., Driven]


def within(seconds: float, *, observe: bool = False) -> Policy:
    return Policy(name="working", fuses=Fuses(runtime_s=seconds), observe=observe)


@pytest.fixture
def work(clock: ManualClock) -> Tool:
    """A tool that takes ten seconds, by the clock of the test."""

    @sw.tool(effect="pure")
    def work() -> str:
        """Work."""
        clock.advance(10.0)
        return "done"

    return work


async def three(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("work")).status for _ in range(3)]}


def three_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": [run.tool("work").status for _ in range(3)]}


def spent(driven: Driven, scope: str = "WORK") -> float:
    row = driven.session.row()
    assert row is not None
    return driven.session.database.ledger.spent("s1", row.run).get((scope, "runtime_s"), 0.0)


@pytest.mark.parametrize("do", [three, three_sync])
def test_the_ledger_keeps_what_the_run_worked(drive: Drive, work: Tool, do: Any) -> None:
    """Three calls of ten seconds each, in the scope of the policy."""
    driven = drive(compiled(do, box=[work], policy=within(300)))
    assert driven.start({}).status == "completed"
    assert spent(driven) == 30.0


@pytest.mark.parametrize("do", [three, three_sync])
def test_the_fuse_trips_before_the_next_call(drive: Drive, work: Tool, do: Any) -> None:
    """After twenty seconds no call begins, and the chart takes the event."""
    driven = drive(compiled(do, box=[work], policy=within(20), handles=["fuse.runtime_s"]))
    assert driven.start({}).path == "HELP"
    assert spent(driven) == 20.0


def test_an_unhandled_fuse_halts_and_a_person_gives_more(drive: Drive, work: Tool) -> None:
    """The run goes on where it stood; calls that were made come from the journal."""
    driven = drive(compiled(three, box=[work], policy=within(20)))
    halted = driven.start({})
    assert (halted.status, (halted.reason or {})["event"]) == ("halted", "fuse.runtime_s")
    ledger, row = driven.session.database.ledger, driven.session.row()
    assert row is not None
    ledger.raise_limit("s1", row.run, "WORK", "runtime_s", 60.0, "ann", "it is worth it")
    resumed = driven.resume()
    assert (resumed.status, resumed.values["log"]) == ("completed", ["ok"] * 3), resumed.reason
    assert spent(driven) == 30.0


def two_states(first: Any, second: Any, policy: Policy, tools: list[Tool]) -> Any:
    names = [tool.name for tool in tools]
    return sw.Chart(
        "two",
        Beside,
        sw.State("A", do=first, tools=names, to="B"),
        sw.State("B", do=second, to="DONE"),
        sw.Final("DONE"),
        policy=policy,
    ).compile(tools=tools)


def never(state: Any) -> Any:
    raise AssertionError("it was called")


def test_the_fuse_trips_before_the_next_activity(drive: Drive, work: Tool) -> None:
    """A state that makes no calls does not begin either."""
    halted = drive(two_states(three, never, within(30), [work])).start({})
    reason = halted.reason or {}
    assert (halted.status, reason["event"], reason["data"]["state"]) == ("halted", "fuse.runtime_s", "B")


def test_waiting_for_people_does_not_count(drive: Drive, clock: ManualClock, work: Tool) -> None:
    """A day in a waiting state costs nothing."""
    waiting = sw.State("W", on=[sw.on("go", "B")])
    chart = sw.Chart(
        "wait",
        Beside,
        sw.State("A", do=three, tools=["work"], to="W"),
        waiting,
        sw.State("B", do=three, tools=["work"], to="DONE"),
        sw.Final("DONE"),
        policy=within(100),
    )
    driven = drive(chart.compile(tools=[work]))
    driven.start({})
    clock.advance(86_400.0)
    assert driven.resume("go").status == "completed"
    assert spent(driven, "") == 60.0


def test_regions_that_work_at_once_count_once(drive: Drive, clock: ManualClock) -> None:
    """The clock moves on once for both."""
    met: list[str] = []

    async def region(state: Any) -> Any:
        met.append("here")
        while len(met) < 2:
            await asyncio.sleep(0)
        if len(met) == 2:
            met.append("moved")
            clock.advance(10.0)
        return {}

    inside = [sw.Superstate(name, sw.State("ACT", do=region, to="END"), sw.Final("END")) for name in "AB"]
    chart = sw.Chart("r", Beside, sw.Parallel("P", *inside, to="DONE"), sw.Final("DONE"), policy=within(100))
    driven = drive(chart.compile())
    driven.start({})
    assert spent(driven, "") == 10.0


def test_without_a_limit_nothing_is_measured(drive: Drive, work: Tool) -> None:
    """A chart that nobody limits pays nothing for the measurement."""
    driven = drive(compiled(three, box=[work], policy=Policy(name="free")))
    driven.start({})
    assert spent(driven) == 0.0


async def looks(state: Any, run: sw.Run[Any]) -> Any:
    await run.tool("work")
    return {"log": [run.remaining["runtime_s"]]}


def test_an_activity_sees_what_remains(drive: Drive, work: Tool) -> None:
    """The time of the work under way is part of it."""
    assert drive(compiled(looks, box=[work], policy=within(25))).start({}).values["log"] == [15.0]


def test_a_policy_that_observes_writes_down_what_it_would_deny(drive: Drive, work: Tool) -> None:
    """The third call is made, and the audit log has why it would not have been."""
    driven = drive(compiled(three, box=[work], policy=within(20, observe=True)))
    assert driven.start({}).values["log"] == ["ok"] * 3
    records = [row.record for row in driven.session.database.audit.rows("s1")]
    (would,) = [record for record in records if record["event"] == "would_deny"]
    assert (would["call"], would["rule"].endswith("fuses.runtime_s")) == (3, True)


def test_a_replay_trips_where_the_record_did(drive: Drive, work: Tool) -> None:
    """Nothing is measured in a replay; what tripped trips again, and goes on when the limit was raised."""
    driven = drive(compiled(three, box=[work], policy=within(20)))
    driven.start({})
    row = driven.session.row()
    assert row is not None
    driven.session.database.ledger.raise_limit("s1", row.run, "WORK", "runtime_s", 60.0, "ann", "more")
    driven.resume()
    assert same(driven)


def test_a_replay_trips_before_the_same_activity(drive: Drive, work: Tool) -> None:
    """The activity that did not begin does not begin in the replay."""
    driven = drive(two_states(three, never, within(30), [work]))
    driven.start({})
    assert same(driven)
