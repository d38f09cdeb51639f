"""Hazards 1, 3 and 7: two inputs at once, what counts as finished, and limits over human answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import stateward as sw
from stateward.errors import SessionBusy, StaleFence
from stateward.run.graph import ChartGraph
from stateward.testing import How, ManualClock, ScriptedModel
from tests.charts.drive import Driven, policy
from tests.charts.one import One, compiled
from tests.charts.talk import talk
from tests.charts.tools import Shop

Drive = Callable[..., Driven]
SESSION: Any = {"configurable": {"thread_id": "t"}}


def echo(state: Any) -> None:
    """Do nothing: the input alone is counted."""


def send_all(graph: ChartGraph, how: How, *, sends: int = 40, threads: int = 8) -> list[int]:
    """Send numbered inputs from several threads; return those that were accepted."""

    def send(number: int) -> int | None:
        try:
            if how == "sync":
                graph.invoke({"log": [number]}, SESSION)
            else:
                asyncio.run(graph.ainvoke({"log": [number]}, SESSION))
        except SessionBusy:
            return None
        return number

    with ThreadPoolExecutor(threads) as pool:
        return [number for number in pool.map(send, range(sends)) if number is not None]


def test_concurrent_inputs_lose_nothing_in_memory(how: How) -> None:
    """Under LangGraph's own saver: each input is kept or refused."""
    graph = compiled(echo).copy({"checkpointer": InMemorySaver()})
    accepted = send_all(graph, how)
    assert accepted
    assert sorted(graph.get_state(SESSION).values["log"]) == sorted(accepted)


def test_concurrent_inputs_lose_nothing_on_sqlite(how: How, tmp_path: Path) -> None:
    """In a database file too."""
    with sw.open(f"sqlite:///{tmp_path}/w.db") as database:
        graph = compiled(echo).attach(database)
        accepted = send_all(graph, how)
        assert accepted
        assert sorted(graph.get_state(SESSION).values["log"]) == sorted(accepted)


def test_concurrent_inputs_lose_nothing_over_two_connections(how: How, tmp_path: Path) -> None:
    """Two processes' worth of databases on one file refuse each other."""
    url = f"sqlite:///{tmp_path}/w.db"
    with sw.open(url) as one, sw.open(url) as other, ThreadPoolExecutor(2) as pool:
        graphs = [compiled(echo).attach(database) for database in (one, other)]
        halves = list(pool.map(lambda graph: send_all(graph, how, sends=10, threads=1), graphs))
        log = graphs[0].get_state(SESSION).values["log"]
    assert sorted(log) == sorted(halves[0] + halves[1])


def test_holder_that_wakes_after_its_lease_cannot_write(drive: Drive, clock: ManualClock) -> None:
    """While it slept another took over and finished; its own step is refused."""
    visits: list[int] = []

    def act(state: Any) -> Any:
        visits.append(len(visits))
        if len(visits) == 1:
            clock.advance(3600)
            driven.session.resume()
        return {"log": [f"visit {len(visits)}"]}

    driven = drive(compiled(act))
    with pytest.raises(StaleFence):
        driven.start({"log": ["in"]})
    assert driven.session.outcome().values["log"] == ["in", "visit 2"]


# -- 3 --------------------------------------------------------------------------------------------------


class Crash(BaseException):
    """Stands for the end of the process."""


def test_cut_off_run_is_running_and_stalled_not_finished(drive: Drive) -> None:
    """After a crash the row says running, and that nobody is at work."""

    def die(state: Any) -> None:
        raise Crash

    driven = drive(compiled(die))
    with pytest.raises(Crash):
        driven.start({})
    row = driven.session.row()
    assert (row.status, row.stalled) == ("running", True)
    assert driven.session.database.sessions.terminals("s1") == ()


def test_waiting_run_has_no_terminal_record(drive: Drive) -> None:
    """A wait is no end."""
    driven = drive(compiled(echo, to="HELP"))
    driven.start({})
    assert driven.session.row().status == "waiting"
    assert driven.session.database.sessions.terminals("s1") == ()


def test_ended_run_has_exactly_one_record(drive: Drive) -> None:
    """Written with the last checkpoint, which it names."""
    driven = drive(compiled(echo))
    driven.start({})
    (record,) = driven.session.database.sessions.terminals("s1")
    assert record.status == "completed"
    assert record.checkpoint == driven.checkpoints[-1].config["configurable"]["checkpoint_id"]


# -- 7 --------------------------------------------------------------------------------------------------


async def calls_around_an_ask(state: Any, run: sw.Run[Any]) -> Any:
    for order in "AB":
        await run.tool("lookup", order=order)
    await run.tool("refund", order="A")
    await run.tool("lookup", order="too much")


def test_limits_do_not_reset_at_a_human_answer(drive: Drive) -> None:
    """Three calls are three calls, however many people answered in between."""
    shop = Shop()
    chart = sw.Chart(
        "limits",
        One,
        sw.Superstate(
            "OUT",
            sw.State(
                "ACT",
                do=calls_around_an_ask,
                tools=["lookup", "refund"],
                to="DONE",
                policy=policy("approve_refunds"),
            ),
            policy=policy("three_calls"),
        ),
        sw.Final("DONE"),
    )
    driven = drive(chart.compile(tools=shop.box))
    outcome = driven.answer(driven.start({}).asks[0])
    assert (outcome.status, outcome.reason["event"]) == ("halted", "fuse.calls")
    assert shop.effects == [("lookup", "A"), ("lookup", "B"), ("refund", "A")]


def test_turns_do_not_reset_at_an_event(drive: Drive) -> None:
    """Leaving for a person and coming back gives no new turns."""
    model = ScriptedModel.of("a", "b", "c", "d")
    driven = drive(talk(model, policy=policy("three_turns"), handles=("fuse",)))
    driven.start({})
    for _ in range(3):
        driven.resume("again")
    assert len(model.calls) == 3


def test_counters_are_shared_by_processes(how: How, tmp_path: Path) -> None:
    """Another process that resumes the session goes on counting."""
    url, model = f"sqlite:///{tmp_path}/w.db", ScriptedModel.of("a", "b", "c", "d")
    graph = talk(model, policy=policy("two_turns"), handles=("fuse",))
    for step in ("start", "again"):
        with sw.open(url) as database:
            driven = Driven(sw.Session("s", graph.attach(database), database), how)
            driven.start({}) if step == "start" else driven.resume(step)
    assert len(model.calls) == 2
