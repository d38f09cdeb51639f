"""Regions under what may happen to a session: crashes, edits, forks, raised limits, late answers (HAZARDS 18)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

import stateward as sw
from stateward.errors import SessionBusy
from stateward.run.store.database import Database
from stateward.run.timeline import timeline
from stateward.testing import How, run_graph
from tests.charts.beside import Beside, Gate, compiled_beside, says
from tests.charts.drive import Driven, policy
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


class Crash(BaseException):
    """Stands for the end of the process, in the middle of an activity."""


async def committed(driven: Driven, *log: str) -> None:
    """Wait, in an activity, until others' ends are in the checkpoint: what ends together is committed together."""
    while driven.session.outcome().values.get("log") != list(log):
        await asyncio.sleep(0)


def test_after_a_crash_only_what_had_not_ended_is_entered_again(drive: Drive) -> None:
    """A's end is in the checkpoint, B's is not: B is entered again, as the same activation, with its journal."""
    shop, began = Shop(), list[str]()

    async def look(state: Any, run: sw.Run[Any]) -> Any:
        began.append(f"{run.path} {run.activation}")
        found = await run.tool("lookup", order="A1")
        await committed(driven, "a")
        if began.count("P.B.S 1") == 1:
            raise Crash
        return {"log": [found.status]}

    async def first(state: Any, run: sw.Run[Any]) -> Any:
        began.append(f"{run.path} {run.activation}")
        return {"log": ["a"]}

    graph = compiled_beside(
        [sw.State("S", do=first, to="W"), sw.State("W", on=sw.on("go", "END"))],
        [sw.State("S", do=look, tools=["lookup"], to="END")],
        box=shop.box,
    )
    driven = drive(graph)
    with pytest.raises(Crash):
        driven.start({})
    assert driven.session.outcome().path == "P.A.W, P.B.S"
    assert driven.resume().values["log"] == ["a", "ok"]
    assert (began, shop.done("lookup")) == (["P.A.S 1", "P.B.S 1", "P.B.S 1"], ["A1"])


def test_ended_activity_whose_state_stays_is_not_entered_again(drive: Drive) -> None:
    """An error that a targetless transition takes leaves the state where it is; its activity is over."""
    began: list[str] = []

    async def fail(state: Any) -> Any:
        began.append("a")
        raise ValueError("no")

    taken = sw.on("error.activity", do=lambda state: {"log": ["taken"]})
    a = sw.State("S", do=fail, to="END", on=[taken, sw.on("go", "END")])
    driven = drive(compiled_beside([a], [sw.State("S", do=says("b"), to="END")]))
    assert driven.start({}).path == "P.A.S, P.B.END"
    assert driven.control["ended"] == {"P.A.S": 1}
    assert (driven.resume("go").status, began) == ("completed", ["a"])


def test_region_that_a_fuse_stopped_goes_on_when_its_limit_is_raised(drive: Drive) -> None:
    """The other regions are where they were; the calls that were made come from the journal."""
    shop = Shop()

    async def look(state: Any, run: sw.Run[Any]) -> Any:
        await committed(driven, "b")
        for order in ("1", "2", "3", "4"):
            await run.tool("lookup", order=order)
        return {"log": ["a"]}

    graph = compiled_beside(
        [sw.State("S", do=look, tools=["lookup"], to="END")],
        [sw.State("S", do=says("b"), to="END")],
        box=shop.box,
        policy=policy("three_calls"),
    )
    driven = drive(graph)
    outcome = driven.start({})
    assert (outcome.status, outcome.reason["event"], outcome.values["log"]) == ("halted", "fuse.calls", ["b"])
    run = driven.session.row().run
    driven.session.database.ledger.raise_limit("s1", run, "P", "calls", 9, "ann", "a good customer")
    outcome = driven.resume()
    assert (outcome.status, outcome.values["log"], shop.done("lookup")) == (
        "completed",
        ["b", "a"],
        ["1", "2", "3", "4"],
    )


def test_values_can_be_edited_while_regions_wait(drive: Drive) -> None:
    """The regions stay where they stand."""
    driven = drive(compiled_beside([sw.State("W", on=sw.on("left", "END"))], [sw.State("W", on=sw.on("right", "END"))]))
    driven.start({"text": "before"})
    driven.session.graph.update_state(driven.session.config, {"text": "after"})
    assert driven.resume("left").path == "P.A.END, P.B.W"
    assert driven.resume("right").values["text"] == "after"


def test_values_can_be_edited_between_a_crash_and_the_hub(drive: Drive) -> None:
    """The edit keeps the hub as what comes next; activities that are entered again see it."""

    async def read(state: Any) -> Any:
        if state["text"] == "before":
            raise Crash
        return {"log": [state["text"]]}

    driven = drive(compiled_beside([sw.State("S", do=read, to="END")], [sw.State("S", do=read, to="END")]))
    with pytest.raises(Crash):
        driven.start({"text": "before"})
    driven.session.graph.update_state(driven.session.config, {"text": "after"})
    assert driven.resume().values["log"] == ["after", "after"]


def test_session_is_busy_while_its_regions_run_and_an_answer_is_taken_all_the_same(drive: Drive) -> None:
    """Who answers need not wait: the run that holds the session picks the answer up."""
    shop, gate = Shop(), Gate()

    async def refund(state: Any, run: sw.Run[Any]) -> Any:
        paid = await run.tool("refund", order="A1")
        gate.open()
        return {"log": [paid.status]}

    async def person(state: Any, run: sw.Run[Any]) -> Any:
        database = driven.session.database
        while not (asks := database.asks.open("s1")):
            await asyncio.sleep(0)
        while driven.session.outcome().asks != (asks[0].id,):
            await asyncio.sleep(0)
        with pytest.raises(SessionBusy):
            driven.session.graph.invoke({}, driven.session.config)
        stands.append(driven.session.answer(asks[0].id, "approve", by="ann").status)
        await gate.wait()

    stands: list[str] = []
    graph = compiled_beside(
        [sw.State("S", do=refund, tools=["refund"], to="END")],
        [sw.State("S", do=person, to="END")],
        box=shop.box,
        policy=policy("approve_refunds"),
    )
    driven = drive(graph)
    assert (driven.start({}).values["log"], stands) == (["ok"], ["running"])


def test_timeline_tells_each_call_with_its_regions_step(drive: Drive) -> None:
    """Calls of two regions that overlap in time stand at the ends of their own activities."""
    shop, gate = Shop(), Gate()

    def looks(order: str, before: Gate | None, after: Gate | None) -> Any:
        async def look(state: Any, run: sw.Run[Any]) -> Any:
            await run.tool("lookup", order=order)
            if before is not None:
                before.open()
            if after is not None:
                await after.wait()

        return look

    graph = compiled_beside(
        [sw.State("S", do=looks("a", None, gate), tools=["lookup"], to="END")],
        [sw.State("S", do=looks("b", gate, None), tools=["lookup"], to="END")],
        box=shop.box,
    )
    driven = drive(graph)
    driven.start({})
    rows = timeline(driven.session.graph, database=driven.session.database, session="s1")
    told = [(row.state, [call.arguments["order"] for call in row.calls]) for row in rows if row.calls]
    assert sorted(told) == [("P.A.S", ["a"]), ("P.B.S", ["b"])]


def test_time_travel_lands_in_the_hub(drive: Drive) -> None:
    """A fork from the middle enters what had not ended there, and only that."""
    gate, began = Gate(), list[str]()

    def notes(name: str, **rest: Any) -> Any:
        return says(name, then=lambda: began.append(name), **rest)

    driven = drive(
        compiled_beside(
            [sw.State("S", do=notes("a", opens=[gate]), to="END")], [sw.State("S", do=notes("b", after=gate), to="END")]
        )
    )
    driven.start({})
    middle = next(c for c in driven.checkpoints if c.values.get("log") == ["a"])
    began.clear()
    values = run_graph(driven.session.graph, None, how=driven.how, config=middle.config)
    assert (values["log"], began) == (["a", "b"], ["b"])


def test_chart_with_regions_is_a_node_of_somebodys_graph(how: How) -> None:
    """It returns what it changed: an additive key counts once."""
    chart = compiled_beside([sw.State("S", do=says("a"), to="END")], [sw.State("S", do=says("b"), to="END")])
    builder = StateGraph(Beside)
    builder.add_node("chart", chart)
    builder.add_edge(START, "chart")
    builder.add_edge("chart", END)
    graph = builder.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "s1"}}
    assert run_graph(graph, {"log": ["in"]}, how=how, config=config)["log"] == ["in", "a", "b"]


def test_lost_lease_stops_all_regions(database: Database) -> None:
    """Somebody took the session over: the next step cannot commit, and no activity goes on."""
    stopped: list[str] = []

    async def forever(state: Any) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("b")

    def take_over() -> None:
        with database.transaction() as cur:
            cur.execute("UPDATE stateward_sessions SET fence = fence + 1")

    graph = compiled_beside(
        [sw.State("S", do=says("a", then=take_over), to="END")], [sw.State("S", do=forever, to="END")]
    ).attach(database)
    config: Any = {"configurable": {"thread_id": "s1"}}

    async def main() -> set[Any]:
        with pytest.raises(Exception, match="took over"):
            await graph.ainvoke({}, config)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert (asyncio.run(main()), stopped) == (set(), ["b"])
