"""A stream that was left early holds its session for some turns of the loop: the next call from there outwaits it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import stateward as sw
from stateward.errors import SessionBusy
from stateward.run.graph import ChartGraph
from stateward.run.presence import Presence, outwait
from stateward.run.store.database import Database
from tests.charts.one import One

CONFIG: Any = {"configurable": {"thread_id": "s"}}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may need longer for the turns of a loop than a call waits for them."""
    monkeypatch.setattr("stateward.run.presence.LEFT_S", 60.0)


async def said(state: Any) -> Any:
    return {"log": ["said"]}


def flat(database: Database, *, second: Any = said) -> ChartGraph:
    """Two states one after the other."""
    states = (sw.State("A", do=said, to="B"), sw.State("B", do=second, to="DONE"), sw.Final("DONE"))
    return sw.Chart("flat", One, *states).compile(database=database)


async def leave(graph: ChartGraph) -> None:
    async for _ in graph.astream({}, CONFIG, stream_mode="updates"):
        break


def test_a_call_right_after_a_left_stream_goes_on(database: Database) -> None:
    """Nobody sees that the session was held until Python had closed the stream."""
    graph = flat(database)

    async def scene() -> Any:
        await leave(graph)
        return await graph.ainvoke(None, CONFIG)

    assert asyncio.run(scene())["log"] == ["said", "said"]


def test_a_task_right_after_a_left_stream_goes_on(database: Database) -> None:
    """The place is where the stream was read, and what began there."""
    graph = flat(database)

    async def scene() -> Any:
        await leave(graph)
        return await asyncio.create_task(graph.ainvoke(None, CONFIG))

    assert asyncio.run(scene())["log"] == ["said", "said"]


def test_a_left_sync_stream_is_over_at_once(database: Database) -> None:
    """Python closes it where it is left."""
    chart = sw.Chart("flat", One, sw.State("A", do=lambda state: {"log": ["a"]}, to="DONE"), sw.Final("DONE"))
    graph = chart.compile(database=database)
    for _ in graph.stream({}, CONFIG, stream_mode="updates"):
        break
    assert graph.invoke(None, CONFIG)["log"] == ["a"]


def test_another_place_is_busy_at_once(database: Database) -> None:
    """Two calls side by side: the second waits for nothing."""
    never = asyncio.Event()

    async def hang(state: Any) -> None:
        await never.wait()

    graph = flat(database, second=hang)

    async def scene() -> None:
        first = asyncio.create_task(graph.ainvoke({}, CONFIG))
        while database.leases.held("s") is None:
            await asyncio.sleep(0)
        with pytest.raises(SessionBusy):
            await graph.ainvoke({}, CONFIG)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)

    asyncio.run(scene())


def test_a_call_that_is_over_is_not_waited_for() -> None:
    """Nor one of another session, nor the call itself."""

    async def scene() -> list[bool]:
        own, other, past = Presence("s"), Presence("t"), Presence("s")
        past.end()
        other.end()
        return [await asyncio.to_thread(outwait, "s", own=own), await asyncio.to_thread(outwait, "t", own=own)]

    assert asyncio.run(scene()) == [False, False]


def test_a_call_never_waits_on_the_loop_that_ends_the_earlier_one() -> None:
    """A sync call in an async function would only hold it up."""

    async def scene() -> bool:
        return Presence("s").session == "s" and outwait("s", own=None)

    assert not asyncio.run(scene())
