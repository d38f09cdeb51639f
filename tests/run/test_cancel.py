"""Cancelling a session: whoever runs it stops, and everything it began comes to a known end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

import stateward as sw
from benchmarks.cancel import measure
from stateward.errors import InputRefused, NotExpected, SessionBusy, UnknownSession
from stateward.run.store.database import Database
from tests.charts.beside import says
from tests.charts.drive import Driven, policy
from tests.charts.one import One, compiled
from tests.charts.stuck import Stuck, cancelled_while, pay
from tests.charts.timed import nap
from tests.charts.tools import Shop, call
from tests.charts.waiting import waiting

Drive = Callable[..., Driven]
WHY = {"by": "ann", "reason": "a typo"}


# -- who runs it stops ----------------------------------------------------------------------------------


def test_run_of_another_thread_is_cancelled(drive: Drive, database: Database) -> None:
    """Its caller is told, and the terminal record says by whom and why."""
    stuck = Stuck()
    outcome = cancelled_while(drive(compiled(stuck)), stuck.begun)
    assert (outcome.status, stuck.stopped) == ("cancelled", ["activity"])
    assert outcome.reason == {"event": "cancelled", "state": "WORK.ACT", "data": WHY}
    assert [end.reason for end in database.sessions.terminals("s1")] == [outcome.reason]


def test_run_of_another_task_is_cancelled(database: Database) -> None:
    """On the same event loop; nothing of it goes on there."""
    stuck = Stuck()
    session = sw.Session("s1", compiled(stuck), database)

    async def main() -> tuple[Any, Any, int]:
        task = asyncio.create_task(session.astart({}))
        while not stuck.begun.is_set():
            await asyncio.sleep(0)
        told = await session.acancel(by="ann")
        return told, await task, len(asyncio.all_tasks())

    told, came, tasks = asyncio.run(main())
    assert (told, came.status, tasks) == (came, "cancelled", 1)


def test_sync_activity_ends_before_its_run_does(drive: Drive) -> None:
    """Python cannot stop it; what it returns is kept, and nothing is begun after it."""
    begun, release = threading.Event(), threading.Event()

    def act(state: Any) -> dict[str, Any]:
        begun.set()
        release.wait()
        return {"text": "kept"}

    chart = sw.Chart("two", One, sw.State("A", do=act, to="B"), sw.State("B", do=says("b"), to="C"), sw.Final("C"))
    driven = drive(chart.compile())
    with driven.running() as came:
        begun.wait()
        with pytest.raises(SessionBusy, match="told to stop"):
            driven.cancel(wait_s=0)
        release.set()
    assert (came[0].status, came[0].values.get("log"), came[0].path) == ("cancelled", [], "B")
    assert came[0].values["text"] == "kept"


def test_activity_that_swallows_its_cancellation_is_left_behind(drive: Drive) -> None:
    """The run does not wait for it, and nothing it returns is kept."""
    begun = threading.Event()

    async def stubborn(state: Any) -> dict[str, Any]:
        begun.set()
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()  # until its loop ends
        return {"text": "too late"}

    outcome = cancelled_while(drive(compiled(stubborn)), begun)
    assert (outcome.status, outcome.values.get("text")) == ("cancelled", None)


def test_cancellation_that_was_not_ordered_leaves_the_run_unfinished(database: Database) -> None:
    """Who cancels the task of the caller stops the call, and not the run: it can be gone on with."""
    stuck = Stuck()
    session = sw.Session("s1", compiled(stuck), database)

    async def main() -> None:
        task = asyncio.create_task(session.astart({}))
        while not stuck.begun.is_set():
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    row = session.row()
    assert row is not None
    assert (row.status, database.sessions.terminals("s1")) == ("running", ())


# -- nobody runs it -------------------------------------------------------------------------------------


def test_waiting_session_is_cancelled_at_once(drive: Drive, database: Database) -> None:
    """Nobody is needed for it."""
    driven = drive(waiting().compile())
    driven.start({})
    outcome = driven.cancel(reason="a typo")
    assert (outcome.status, outcome.path, outcome.reason) == (
        "cancelled",
        "OPEN",
        {"event": "cancelled", "state": "OPEN", "data": WHY},
    )
    assert database.leases.held("s1") is None


@pytest.mark.parametrize("by", ["", " ", "half \ud800"])
def test_nobody_cancels_nothing(drive: Drive, database: Database, by: str) -> None:
    """The terminal record says who did."""
    driven = drive(waiting().compile())
    driven.start({})
    with pytest.raises(InputRefused):
        driven.cancel(by=by)
    assert database.sessions.get("s1").status == "waiting"


def test_questions_of_a_cancelled_run_are_taken_back(drive: Drive, database: Database) -> None:
    """Nobody is shown them any more."""

    async def refund(state: Any, run: sw.Run[Any]) -> None:
        await run.tools([call("refund", order="A")])

    driven = drive(compiled(refund, box=Shop().box, policy=policy("approve_refunds")))
    (ask,) = driven.start({}).asks
    assert driven.cancel().asks == ()
    assert (database.asks.get(ask).status, database.asks.open()) == ("withdrawn", ())


def test_timers_of_a_cancelled_run_do_not_go_off(drive: Drive) -> None:
    """Nobody wakes it."""
    driven = drive(nap().compile())
    driven.start({})
    outcome = driven.cancel()
    assert (outcome.status, outcome.wakes_at) == ("cancelled", None)


def test_stalled_session_is_cancelled(drive: Drive, database: Database) -> None:
    """Its holder is gone: what it was calling is closed, and its history says that answers are lost."""
    stuck = Stuck()
    driven = drive(compiled(pay, box=[stuck.tool("once")]))

    async def die() -> None:
        task = asyncio.create_task(driven.session.astart({}))
        while not stuck.begun.is_set():
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(die())
    assert driven.cancel().status == "cancelled"
    assert [entry.status for entry in database.journal.entries("s1")] == ["unknown"]


def test_next_input_opens_a_new_run(drive: Drive) -> None:
    """A cancelled run is over, and the session is not."""
    driven = drive(waiting().compile())
    driven.start({})
    driven.cancel()
    assert driven.start({"text": "again"}).status == "waiting"


@pytest.mark.parametrize("end", ["end", None])
def test_run_that_has_ended_is_not_cancelled(drive: Drive, end: str | None) -> None:
    """The error says how it ended."""
    driven = drive(waiting().compile())
    driven.start({})
    driven.resume(end) if end else driven.cancel()
    with pytest.raises(NotExpected, match="it is completed" if end else "it is cancelled"):
        driven.cancel()


def test_session_that_never_began_is_not_cancelled(drive: Drive) -> None:
    """There is none."""
    with pytest.raises(UnknownSession):
        drive(waiting().compile()).cancel()


# -- the history ----------------------------------------------------------------------------------------


def asks_a_tool(state: Any) -> dict[str, Any]:
    return {"messages": [AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "c1"}])]}


@pytest.mark.parametrize("waits", [True, False])
def test_tool_calls_of_the_history_get_an_answer(drive: Drive, waits: bool) -> None:
    """The next run's model is shown a history that is well paired (HAZARDS 17)."""
    stuck = Stuck()
    then: dict[str, Any] = {"on": [sw.on("go", "DONE")]} if waits else {"do": stuck, "to": "DONE"}
    chart = sw.Chart("c", One, sw.State("A", do=asks_a_tool, to="B"), sw.State("B", **then), sw.Final("DONE"))
    driven = drive(chart.compile())
    given = {"messages": [HumanMessage("hi")]}
    driven.start(given) if waits else cancelled_while(driven, stuck.begun, given)
    answer = (driven.cancel() if waits else driven.session.outcome()).values["messages"][-1]
    assert isinstance(answer, ToolMessage)
    assert (answer.tool_call_id, answer.status, "cancelled" in str(answer.content)) == ("c1", "error", True)


# -- anywhere -------------------------------------------------------------------------------------------


def test_cancelling_at_any_await_leaves_nothing_behind(url: str) -> None:
    """The benchmark in small: no call without an end, no task, lease, entry or question."""
    found = measure(25, url)
    assert [found[what] for what in ("dangling", "open_calls", "leaks")] == [0, 0, 0]
