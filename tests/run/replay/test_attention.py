"""Regions in a replay: they go on in the recorded order, and are stopped where they were stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.run.replay import attention
from stateward.run.store.database import Database
from stateward.testing import ManualClock
from tests.charts.beside import Beside, compiled_beside, says, says_sync
from tests.charts.drive import Driven, policy
from tests.charts.replayed import difference, same
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


class Later:
    """Lets an activity wait for another's end; only while the run is recorded."""

    def __init__(self) -> None:
        self.done = False

    async def wait(self) -> None:
        while not self.done:
            await asyncio.sleep(0)


def waits(word: str, later: Later) -> Any:
    async def say(state: Any) -> dict[str, Any]:
        await later.wait()
        return {"log": [word]}

    return say


def ends(word: str, later: Later) -> Any:
    async def say(state: Any) -> dict[str, Any]:
        later.done = True
        return {"log": [word]}

    return say


def test_ends_come_in_the_recorded_order(drive: Drive) -> None:
    """A waited for B then; now it would end first, and its end waits for its turn."""
    later = Later()
    b = [sw.State("B1", do=says("b"), to="B2"), sw.State("B2", do=ends("then", later), to="END")]
    driven = drive(compiled_beside([sw.State("S", do=waits("a", later), to="END")], b))
    assert driven.start({}).values["log"][0] == "b"
    assert same(driven)


@pytest.mark.parametrize("say", [says, says_sync])
def test_regions_of_several_states_and_an_event_at_the_wait(drive: Drive, say: Any) -> None:
    """Async and sync activities, an end that waits for an event, and the join."""
    a = [sw.State("A1", do=say("a"), to="A2"), sw.State("A2", on=sw.on("go", "END"))]
    driven = drive(compiled_beside(a, [sw.State("S", do=say("b"), to="END")]))
    driven.start({})
    assert driven.resume("go").status == "completed"
    assert same(driven)


def posting(database: Database, event: str) -> Any:
    async def hang(state: Any, run: sw.Run[Any]) -> Any:
        await run.tool("lookup", order="A")
        database.mailbox.post("s1", event)
        await asyncio.Event().wait()

    return hang


def test_activity_is_stopped_after_the_calls_it_made_and_no_sooner(drive: Drive, database: Database) -> None:
    """What it spent counts for what comes after it."""
    shop = Shop()

    async def again(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("lookup", order="B")).status]}

    stopped = sw.State("S", do=posting(database, "skip"), tools=["lookup"], to="END", on=sw.on("skip", "N"))
    a = [stopped, sw.State("N", do=again, tools=["lookup"], to="END")]
    graph = compiled_beside(a, [sw.State("S", do=says("b"), to="END")], box=shop.box, policy=policy("one_lookup"))
    driven = drive(graph)
    assert "denied" in driven.start({}).values["log"]
    assert same(driven)


def test_call_in_flight_when_its_state_was_left_never_ends(drive: Drive, database: Database) -> None:
    """It is stopped by the same event, at the same place."""

    @sw.tool(effect="once")
    async def hang() -> str:
        """Post an event, and wait for ever."""
        database.mailbox.post("s1", "skip")
        await asyncio.Event().wait()
        return "never"

    async def call(state: Any, run: sw.Run[Any]) -> Any:
        await run.tool("hang")

    a = [sw.State("S", do=call, tools=["hang"], to="END", on=sw.on("skip", "END"))]
    driven = drive(compiled_beside(a, [sw.State("S", do=says("b"), to="END")], box=[hang]))
    assert driven.start({}).status == "completed"
    assert same(driven)


def test_timer_stops_an_activity_where_it_stopped_it(drive: Drive, clock: ManualClock) -> None:
    """The record says when; nobody waits for the time to pass."""

    async def forever(state: Any) -> Any:
        clock.advance(60)
        await asyncio.Event().wait()

    a = [sw.State("A1", do=forever, to="END", on=sw.after(60, "A2")), sw.State("A2", do=says("late"), to="END")]
    driven = drive(compiled_beside(a, [sw.State("B1", do=says("b"), to="END")]))
    driven.start({})
    assert same(driven)


def test_answer_is_taken_while_a_sibling_runs(drive: Drive, database: Database) -> None:
    """The region that asked goes on before the other has ended."""
    shop, later = Shop(), Later()

    async def refund(state: Any, run: sw.Run[Any]) -> Any:
        paid = await run.tool("refund", order="A")
        later.done = True
        return {"log": [paid.status]}

    async def answer(state: Any) -> Any:
        while not later.done:
            for ask in database.asks.open("s1"):
                database.asks.answer(ask.id, decision="approve", by="ann")
            await asyncio.sleep(0)
        return {"log": ["b"]}

    asks = sw.State("S", do=refund, tools=["refund"], to="END")
    rest = {"box": shop.box, "policy": policy("approve_refunds")}
    driven = drive(compiled_beside([asks], [sw.State("S", do=answer, to="END")], **rest))
    assert driven.start({}).values["log"] == ["ok", "b"]
    assert same(driven)


def test_region_that_failed_fails_and_its_sibling_keeps_its_result(drive: Drive) -> None:
    """The failure is in the record, and is raised to nobody."""

    async def fail(state: Any) -> Any:
        raise ValueError("no")

    a, b = sw.State("S", do=fail, to="END"), sw.State("S", do=says("b"), to="END")
    driven = drive(compiled_beside([a], [b]))
    with pytest.raises(ValueError, match="no"):
        driven.start({})
    assert same(driven)


def test_event_that_came_while_one_state_worked_comes_again(drive: Drive, database: Database) -> None:
    """A single state whose activity an event leads out of."""
    stopped = sw.State("S", do=posting(database, "skip"), tools=["lookup"], to="DONE", on=sw.on("skip", "NEXT"))
    chart = sw.Chart("single", Beside, stopped, sw.State("NEXT", on=sw.on("end", "DONE")), sw.Final("DONE"))
    driven = drive(chart.compile(tools=Shop().box))
    assert driven.start({"log": ["x"]}).path == "NEXT"
    assert same(driven)


def test_letter_that_waited_for_a_later_state_waits_again(drive: Drive, database: Database) -> None:
    """The one behind it was taken first, while the activity ran."""
    posted: list[str] = []

    async def post(state: Any) -> Any:
        for event in () if posted else ("note", "stay"):
            posted.append(event)
            database.mailbox.post("s1", event)
        while "posted" in [letter.status for letter in database.mailbox.list("s1") if letter.event == "stay"]:
            await asyncio.sleep(0)
        return {"log": ["acted"]}

    heard = [sw.on(event, do=lambda state: {"log": ["heard"]}) for event in ("stay", "note")]
    act = sw.State("ACT", do=post, on=heard[0], to="OPEN")
    driven = drive(sw.Chart("busy", Beside, act, sw.State("OPEN", on=heard[1])).compile())
    assert driven.start({}).values["log"] == ["heard", "acted", "heard"]
    assert same(driven)


def test_region_that_no_longer_runs_is_a_difference(drive: Drive) -> None:
    """The record has the end of an activity that the chart does not start."""
    b = sw.State("S", do=says("b"), to="END")
    driven = drive(
        compiled_beside([sw.State("A1", do=says("a"), to="A2"), sw.State("A2", do=says("A"), to="END")], [b])
    )
    driven.start({})
    changed = compiled_beside([sw.State("A1", do=says("a"), to="END")], [b])
    assert "A" in difference(driven, changed)[1]


def test_activity_that_never_ends_is_a_difference(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for something outside; the play does not."""
    monkeypatch.setattr(attention, "PATIENCE_S", 0.05)

    async def forever(state: Any) -> Any:
        await asyncio.Event().wait()

    b = sw.State("S", do=says("b"), to="END")
    driven = drive(compiled_beside([sw.State("S", do=says("a"), to="END")], [b]))
    driven.start({})
    assert "nothing has happened" in difference(driven, compiled_beside([sw.State("S", do=forever, to="END")], [b]))[1]
