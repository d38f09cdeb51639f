"""Activities under limits in time: what is cut, what still counts, and which event comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import stateward as sw
from stateward.errors import RunError
from stateward.govern.policy import Fuses, Policy
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.replayed import same

Drive = Callable[..., Driven]


def within(seconds: float) -> Policy:
    return Policy(name="quick", activity_timeout_s=seconds)


@sw.tool(effect="pure")
async def hangs() -> str:
    """Never come back."""
    await asyncio.Event().wait()
    return "never"


@sw.tool(effect="pure")
def quick() -> str:
    """Come back at once."""
    return "here"


async def forever(state: Any) -> Any:
    await asyncio.Event().wait()


def late(state: Any, run: sw.SyncRun[Any]) -> Any:
    while not run.time.is_over:
        pass
    return {"log": ["late"]}


def late_and_failed(state: Any, run: sw.SyncRun[Any]) -> Any:
    late(state, run)
    raise ValueError("too late to say so")


@pytest.mark.parametrize("do", [forever, late, late_and_failed])
def test_an_activity_that_takes_longer_than_the_policy_lets_it_is_a_timeout(drive: Drive, do: Any) -> None:
    """An async one is stopped; a sync one cannot be, but what its late end brings does not count."""
    outcome = drive(compiled(do, policy=within(0.05), handles=["timeout"])).start({})
    assert (outcome.path, outcome.values.get("log", [])) == ("HELP", [])


def test_a_sync_activity_without_run_is_measured_too(drive: Drive) -> None:
    """The short way through a state does not pass by the limit."""

    def spins(state: Any) -> Any:
        run = sw.current_run()
        while not run.time.is_over:
            pass
        return {"log": ["late"]}

    assert drive(compiled(spins, policy=within(0.01), handles=["timeout"])).start({}).path == "HELP"


def test_of_state_and_policy_the_smaller_limit_counts() -> None:
    """A policy cannot give an activity more time than its state does, nor less of it be lost."""
    tight = compiled(forever, policy=within(5), timeout_s=2).machine
    loose = compiled(forever, policy=within(5), timeout_s=9).machine
    assert [plan.timeout_s for machine in (tight, loose) for plan in machine.plans.values()] == [2, 5]


async def call(state: Any, run: sw.Run[Any]) -> Any:
    result = await run.tool("hangs")
    return {"log": [result.status]}


def call_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": [run.tool("hangs").status]}


@pytest.mark.parametrize("do", [call, call_sync])
@pytest.mark.parametrize(
    "policy", [within(3.0), Policy(name="w", fuses=Fuses(runtime_s=0.2))], ids=["activity", "working time"]
)
def test_a_call_is_cut_so_that_its_activity_can_end(drive: Drive, policy: Policy, do: Any) -> None:
    """The call is an observation, and what the activity makes of it is kept."""
    outcome = drive(compiled(do, box=[hangs], policy=policy)).start({})
    assert (outcome.status, outcome.values["log"]) == ("completed", ["timeout"])


def late_call(state: Any, run: sw.SyncRun[Any]) -> Any:
    while not run.time.is_over:
        pass
    run.emit(run.tool("quick").value)
    return {}


def test_no_call_begins_when_no_time_is_left(drive: Drive) -> None:
    """An activity that goes on after its time gets nothing more done."""
    driven = drive(compiled(late_call, box=[quick], policy=within(0.05), handles=["timeout"]))
    driven.start({})
    records = [row.record for row in driven.session.database.audit.rows("s1")]
    assert [(record["event"], record.get("limit")) for record in records] == [
        ("denied", "time"),
        ("timeout", "activity_timeout_s"),
    ]
    assert "no time is left for it: the activity is over" in records[0]["reason"]
    assert driven.session.database.journal.entries("s1") == ()


@pytest.mark.parametrize("do", [late_call, late_and_failed])
def test_a_replay_is_as_late_as_the_record(drive: Drive, do: Any) -> None:
    """Nothing is measured in it: the record says what came too late."""
    driven = drive(compiled(do, box=[quick], policy=within(0.05), handles=["timeout"]))
    driven.start({})
    driven.resume("close")
    assert same(driven)


@pytest.mark.parametrize("end", [None, ValueError("x")])
def test_a_run_that_is_kept_is_over_with_its_activity(drive: Drive, end: Exception | None) -> None:
    """However it ended: neither a door that was used nor one that is asked for later leads anywhere."""
    kept: list[sw.Run[Any]] = []

    async def keep(state: Any, run: sw.Run[Any]) -> Any:
        kept.append(run)
        if end is not None:
            raise end

    async def late() -> None:
        await kept[0].tool("quick")

    with suppress(ValueError):
        drive(compiled(keep, box=[quick])).start({})
    with pytest.raises(RunError, match="has ended"):
        asyncio.run(late())
