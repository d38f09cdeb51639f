"""How calls come to their turn: how many run at once, and how many begin in a minute."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.govern.kinds.pace import Pace
from stateward.govern.policy import Policy
from stateward.run.door.tool import Tool
from stateward.run.store.database import Database
from stateward.testing import ManualClock, ScriptedModel
from tests.charts.beside import Beside
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def waits(database: Database, clock: ManualClock) -> list[float]:
    """The pauses that calls made; the clock moves by them, and nobody sleeps."""
    made: list[float] = []

    def pause(seconds: float, _check: Any = None) -> None:
        made.append(round(seconds, 3))
        clock.advance(seconds)

    async def apause(seconds: float) -> None:
        pause(seconds)

    database.providers.pause, database.providers.apause = pause, apause
    return made


class Busy:
    """Counts how many calls are under way; the first ones wait until there are enough of them."""

    def __init__(self, enough: int) -> None:
        self.enough = enough
        self.now = self.most = 0
        self._met = asyncio.Event()

    @property
    def tool(self) -> Tool:
        @sw.tool(effect="pure")
        async def work(n: int) -> int:
            """Work."""
            self.now += 1
            self.most = max(self.most, self.now)
            if self.most >= self.enough:
                self._met.set()
            await self._met.wait()
            self.now -= 1
            return n

        return work


async def many(state: Any, run: sw.Run[Any]) -> Any:
    results = await run.tools([{"name": "work", "args": {"n": n}} for n in range(20)])
    return {"log": [sum(result.ok for result in results)]}


def many_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    results = run.tools([{"name": "work", "args": {"n": n}} for n in range(20)])
    return {"log": [sum(result.ok for result in results)]}


async def lookups(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("lookup", order=str(n))).status for n in range(3)]}


def lookups_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": [run.tool("lookup", order=str(n)).status for n in range(3)]}


def paced(**pace: int) -> Policy:
    return Policy(name="paced", pace=Pace(**pace))


@pytest.mark.parametrize("do", [many, many_sync])
@pytest.mark.parametrize("most", [1, 3, 12])
def test_no_more_run_at_once_than_the_policy_says(drive: Drive, most: int, do: Any) -> None:
    """All are made; the cap may be above the usual one as well."""
    busy = Busy(most)
    outcome = drive(compiled(do, box=[busy.tool], policy=paced(parallel=most))).start({})
    assert (outcome.values["log"], busy.most) == ([20], most)


def test_regions_share_the_lanes(drive: Drive) -> None:
    """Two regions that work at the same time are one run."""
    busy = Busy(2)
    regions = [
        sw.Superstate(name, sw.State("ACT", do=many, tools=["work"], to="END"), sw.Final("END")) for name in "AB"
    ]
    chart = sw.Chart(
        "two", Beside, sw.Parallel("BOTH", *regions, to="DONE"), sw.Final("DONE"), policy=paced(parallel=2)
    )
    drive(chart.compile(tools=[busy.tool])).start({})
    assert busy.most == 2


@pytest.mark.parametrize("do", [lookups, lookups_sync])
def test_a_call_that_comes_too_early_waits(drive: Drive, shop: Shop, waits: list[float], do: Any) -> None:
    """Two calls a minute: the third waits for its turn, and is made."""
    outcome = drive(compiled(do, box=shop.box, policy=paced(calls_per_minute=2))).start({})
    assert (outcome.values["log"], waits) == (["ok"] * 3, [60.0])


def test_the_rate_holds_over_a_restart(drive: Drive, shop: Shop, waits: list[float]) -> None:
    """Calls of an earlier run of the session count, which only the journal knows of."""
    graph = compiled(lookups, box=shop.box, policy=paced(calls_per_minute=3))
    drive(graph).start({})
    assert waits == []
    drive(graph).start({})
    assert waits == [60.0]


async def asks(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.model().ainvoke("hello")).text for _ in range(2)]}


def asks_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": [run.model().invoke("hello").text for _ in range(2)]}


async def streams(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": ["".join([chunk.text async for chunk in run.model().astream("hello")]) for _ in range(2)]}


def streams_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": ["".join(chunk.text for chunk in run.model().stream("hello")) for _ in range(2)]}


@pytest.mark.parametrize("do", [asks, asks_sync, streams, streams_sync])
def test_model_calls_have_a_rate_of_their_own(drive: Drive, shop: Shop, waits: list[float], do: Any) -> None:
    """One a minute: the second waits, however it is made."""
    model = ScriptedModel.of("a", "b")
    graph = compiled(do, models={"m": model}, model="m", policy=paced(turns_per_minute=1, parallel=1))
    assert drive(graph).start({}).values["log"] == ["a", "b"]
    assert waits == [60.0]


def stream_and_call(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": [run.tool("lookup", order=chunk.text).status for chunk in run.model().stream("hello") if chunk.text]}


async def astream_and_call(state: Any, run: sw.Run[Any]) -> Any:
    said = run.model().astream("hello")
    return {"log": [(await run.tool("lookup", order=chunk.text)).status async for chunk in said if chunk.text]}


@pytest.mark.parametrize("do", [stream_and_call, astream_and_call])
def test_a_call_inside_a_stream_does_not_wait_for_its_end(drive: Drive, shop: Shop, do: Any) -> None:
    """Under a cap of one, who reads a stream may make a call before the next chunk."""
    model = ScriptedModel.of("a b")
    graph = compiled(do, box=shop.box, models={"m": model}, model="m", policy=paced(parallel=1))
    assert set(drive(graph).start({}).values["log"]) == {"ok"}


@pytest.mark.parametrize("do", [lookups, asks, asks_sync])
def test_who_waits_is_let_go_by_a_cancelled_run(drive: Drive, shop: Shop, do: Any) -> None:
    """A call that waits for its turn does not keep the run from being cancelled."""
    policy = paced(calls_per_minute=2, turns_per_minute=1)
    driven = drive(compiled(do, box=shop.box, models={"m": ScriptedModel.of("a", "b")}, model="m", policy=policy))
    waiting, providers = threading.Event(), driven.session.database.providers
    pause, apause = providers.pause, providers.apause

    async def told(seconds: float) -> None:
        waiting.set()
        await apause(seconds)

    def told_sync(seconds: float, check: Any) -> None:
        waiting.set()
        pause(seconds, check)

    providers.apause, providers.pause = told, told_sync
    with driven.running() as came:
        assert waiting.wait(20)
        driven.cancel()
    assert came[0].status == "cancelled"
