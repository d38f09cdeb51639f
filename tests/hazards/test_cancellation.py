"""Cancellation, wherever it comes from and whenever it strikes: no lease, no effect and no budget is lost to it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import stateward as sw
from stateward.errors import RunError
from stateward.run.store.database import Database
from stateward.run.threads import DATABASE_LIMIT
from stateward.testing import ScriptedModel
from tests.charts.beside import compiled_beside, says
from tests.charts.drive import Driven
from tests.charts.one import compiled

Drive = Callable[..., Driven]
SESSION: Any = {"configurable": {"thread_id": "s1"}}


def nothing(state: Any) -> None:
    """Do nothing."""


@pytest.fixture
def blocked(database: Database) -> Iterator[threading.Event]:
    """Set, it lets go of the database, which nobody else can use until then."""
    release, holds = threading.Event(), threading.Event()

    def hold() -> None:
        with database.transaction():
            holds.set()
            release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    yield release
    release.set()
    thread.join()


async def until(condition: Callable[[], object]) -> None:
    """Let the loop turn until something is so."""
    while not condition():
        await asyncio.sleep(0)


# -- the lease ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1, 2])
def test_run_cancelled_while_it_takes_its_lease_keeps_none(
    database: Database, blocked: threading.Event, times: int
) -> None:
    """The thread that takes it goes on, and gives it back, however often the run is cancelled."""
    graph = compiled(nothing).attach(database)
    pool = graph.tables.threads.database

    async def main() -> None:
        task = asyncio.create_task(graph.ainvoke({}, SESSION))
        # Its thread has begun: it took its job.
        await until(lambda: task.done() or (pool.threads and not pool.waiting and not pool.idle))
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
        blocked.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: pool.idle == pool.threads)

    asyncio.run(main())
    assert database.leases.held("s1") is None
    assert graph.invoke({"text": "next"}, SESSION)["text"] == "next"


class Slow:
    """A tool that needs some turns of the loop to stop."""

    def __init__(self, database: Database) -> None:
        self.held: list[bool] = []
        self.begun = False

        @sw.tool(effect="idempotent")
        async def slow() -> None:
            """Wait for ever."""
            self.begun = True
            try:
                await asyncio.Event().wait()
            finally:
                for _ in range(5):
                    await asyncio.sleep(0)
                self.held.append(database.leases.held("s1") is not None)

        self.tool = slow


async def tell_then_wait(state: Any, run: sw.Run[Any]) -> Any:
    run.emit("begun")
    await run.tool("slow")


def test_stream_that_is_left_early_holds_its_lease_until_its_tasks_have_ended(database: Database) -> None:
    """Nobody else may run the session while a tool of the first run still stops."""
    slow = Slow(database)
    graph = compiled(tell_then_wait, box=[slow.tool]).attach(database)

    async def main() -> None:
        stream = graph.astream({}, SESSION, stream_mode="custom")
        await anext(stream)
        await until(lambda: slow.begun)
        await stream.aclose()

    asyncio.run(main())
    assert slow.held == [True]
    assert database.leases.held("s1") is None


# -- what was done --------------------------------------------------------------------------------------


async def pay_once(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("pay")).status]}


def test_finished_once_call_is_settled_although_its_run_is_cancelled(database: Database) -> None:
    """The effect is done and known: nobody is asked about it when the run goes on."""
    effects: list[str] = []
    begun: list[bool] = []
    release = threading.Event()

    def occupy() -> None:
        begun.append(True)
        release.wait()

    @sw.tool(effect="once")
    async def pay() -> str:
        """Pay, while every thread of the database is taken."""
        effects.append("paid")
        for _ in range(DATABASE_LIMIT):
            pool.submit(occupy)
        return "ok"

    graph = compiled(pay_once, box=[pay]).attach(database)
    pool = graph.tables.threads.database

    async def main() -> Any:
        task = asyncio.create_task(graph.ainvoke({}, SESSION))
        await until(lambda: len(begun) == DATABASE_LIMIT and pool.waiting)
        task.cancel()
        for _ in range(5):
            await asyncio.sleep(0)
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [entry.status for entry in database.journal.entries("s1")] == ["completed"]
        return await graph.ainvoke(None, SESSION)

    assert asyncio.run(main())["log"] == ["ok"]
    assert effects == ["paid"]


# -- a cancellation nobody asked for --------------------------------------------------------------------


async def cancel_itself() -> None:
    raise asyncio.CancelledError


async def cancel_own_task() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


@pytest.mark.parametrize("timeout_s", [60.0, None])
def test_tool_that_cancels_its_own_task_is_a_failed_call(drive: Drive, timeout_s: float | None) -> None:
    """Its task is not its caller's."""

    @sw.tool(effect="idempotent", timeout_s=timeout_s)
    async def pay() -> None:
        """Cancel its task."""
        await cancel_own_task()

    assert drive(compiled(pay_once, box=[pay])).start({}).values["log"] == ["failed"]


@pytest.mark.parametrize("timeout_s", [60.0, None])
@pytest.mark.parametrize("is_async", [True, False])
def test_tool_that_cancels_itself_is_a_failed_call(drive: Drive, is_async: Any, timeout_s: float | None) -> None:
    """Otherwise it would end the whole run, each time it is taken up again."""

    @sw.tool(effect="idempotent", name="pay", timeout_s=timeout_s)
    async def pay() -> None:
        """Cancel itself."""
        await cancel_itself()

    @sw.tool(effect="idempotent", name="pay", timeout_s=timeout_s)
    def pay_sync() -> None:
        """Cancel itself."""
        raise asyncio.CancelledError

    assert drive(compiled(pay_once, box=[pay if is_async else pay_sync])).start({}).values["log"] == ["failed"]


async def cancelled(state: Any) -> None:
    await cancel_itself()


def cancelled_sync(state: Any) -> None:
    raise asyncio.CancelledError


async def cancels_own_task(state: Any) -> None:
    await cancel_own_task()


WAYS: list[Any] = [
    pytest.param(cancelled, {}, id="raised"),
    pytest.param(cancelled, {"timeout_s": 60.0}, id="raised and timed"),
    pytest.param(cancelled_sync, {}, id="raised in a thread"),
    pytest.param(cancels_own_task, {}, id="its task"),
    pytest.param(cancels_own_task, {"timeout_s": 60.0}, id="its task and timed"),
]
"""How an activity cancels itself, and what its state declares."""


@pytest.mark.parametrize(("do", "more"), WAYS)
def test_activity_that_cancels_itself_is_an_error_of_the_activity(drive: Drive, do: Any, more: Any) -> None:
    """The chart reacts to it as to any other error."""
    assert drive(compiled(do, handles=["error.activity"], **more)).start({}).path == "HELP"


@pytest.mark.parametrize(("do", "more"), WAYS)
def test_region_that_cancels_itself_leaves_the_others_what_they_did(drive: Drive, do: Any, more: Any) -> None:
    """Its state reacts to it as to any other error; the run comes to its end."""
    a = sw.State("S", do=do, to="END", on=sw.on("error.activity", "END"), **more)
    outcome = drive(compiled_beside([a], [sw.State("S", do=says("b"), to="END")])).start({})
    assert (outcome.status, outcome.values["log"]) == ("completed", ["b"])


@pytest.mark.parametrize(("do", "more"), WAYS)
def test_unhandled_cancellation_from_inside_fails_the_run(drive: Drive, do: Any, more: Any) -> None:
    """It does not stay `running`, and says what happened."""
    driven = drive(compiled(do, **more))
    with pytest.raises(RunError, match="cancelled from inside"):
        driven.start({})
    assert driven.session.outcome().status == "failed"


# -- who is left behind ---------------------------------------------------------------------------------


class LeftBehind:
    """A sync activity that hangs, and then calls a model and a tool although its run was cancelled."""

    def __init__(self) -> None:
        self.begun, self.release, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.raised: list[str] = []

    def __call__(self, state: Any, run: sw.SyncRun[Any]) -> Any:
        self.begun.set()
        self.release.wait()
        for work in (lambda: run.model().invoke("hi"), lambda: run.tool("pay")):
            try:
                work()
            except Exception as error:  # noqa: BLE001  # what the test looks at
                self.raised.append(str(error))
        self.ended.set()


def test_activity_left_behind_by_a_cancelled_run_pays_for_nothing(database: Database) -> None:
    """Neither models nor tools: nobody gets to see what they come to."""
    activity, model = LeftBehind(), ScriptedModel.of("hello")

    @sw.tool(effect="once")
    def pay() -> None:
        """Pay."""

    graph = compiled(activity, box=[pay], models={"m": model}, model="m").attach(database)

    async def main() -> None:
        task = asyncio.create_task(graph.ainvoke({}, SESSION))
        await asyncio.to_thread(activity.begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    activity.release.set()
    activity.ended.wait()
    assert ["over" in text for text in activity.raised] == [True, True]
    assert database.journal.entries("s1") == ()


# -- the end of the process -----------------------------------------------------------------------------


@pytest.mark.parametrize("own_tasks", [True, False])
def test_tool_that_ends_the_process_says_so(database: Database, own_tasks: Any) -> None:
    """Under `invoke`, `SystemExit` comes out as it is, and not as an error of a loop that it closed."""

    @sw.tool(effect="idempotent")
    def leave() -> None:
        """End the process."""
        raise SystemExit(3)

    async def gather(state: Any, run: sw.Run[Any]) -> Any:
        await asyncio.gather(run.tool("leave"), run.tool("leave"))

    def batch(state: Any, run: sw.SyncRun[Any]) -> Any:
        run.tools([{"name": "leave", "args": {}}] * 2)

    graph = compiled(gather if own_tasks else batch, box=[leave]).attach(database)
    with pytest.raises(SystemExit):
        graph.invoke({}, SESSION)
    assert database.leases.held("s1") is None
