"""One generator of decisions, two drivers."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from typing import Any

import pytest

from stateward.errors import RunError
from stateward.run.drive import Bridge, Steps, Work, drive_async, drive_sync
from stateward.run.threads import DATABASE_LIMIT, Threads
from stateward.testing import How

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


@pytest.fixture
def bridge() -> Iterator[Bridge]:
    made = Bridge()
    yield made
    made.close()


def run(steps: Steps[Any], how: How, bridge: Bridge) -> Any:
    if how == "sync":
        return drive_sync(steps, bridge=bridge)
    return asyncio.run(drive_async(steps, threads=Threads()))


async def double(number: int) -> int:
    return number * 2


def add(number: int) -> int:
    return number + 1


def test_results_are_sent_back(how: How, bridge: Bridge) -> None:
    """Sync work, async work, and the generator's own result."""

    def steps() -> Steps[int]:
        first = yield Work(fn=add, args=(1,))
        second = yield Work(afn=double, args=(first,))
        return second

    assert run(steps(), how, bridge) == 4


def test_each_driver_takes_its_own_form(how: How, bridge: Bridge) -> None:
    """Work with both forms runs in the caller's way."""

    async def asynchronous() -> str:
        return "async"

    def steps() -> Steps[str]:
        return (yield Work(fn=lambda: "sync", afn=asynchronous))

    assert run(steps(), how, bridge) == how


class Signal(BaseException):
    """No Exception."""


@pytest.mark.parametrize("kind", [ValueError, Signal])
@pytest.mark.parametrize("form", ["fn", "afn"])
def test_what_work_raises_is_thrown_in(how: How, bridge: Bridge, kind: Any, form: str) -> None:
    """The generator decides; a signal does not bring down the loop."""

    def fail() -> None:
        raise kind

    async def afail() -> None:
        raise kind

    def steps() -> Steps[str]:
        try:
            yield Work(fn=fail) if form == "fn" else Work(afn=afail)
        except kind:
            return "caught"
        return "missed"

    assert run(steps(), how, bridge) == "caught"


def test_what_the_generator_raises_reaches_the_caller(how: How, bridge: Bridge) -> None:
    """Nothing is swallowed."""

    def steps() -> Steps[None]:
        yield Work(fn=add, args=(1,))
        raise KeyError("gone")

    with pytest.raises(KeyError):
        run(steps(), how, bridge)


def test_context_variables_reach_the_work(how: How, bridge: Bridge) -> None:
    """Threads see what the caller set."""

    def steps() -> Steps[str]:
        VARIABLE.set("set")
        return (yield Work(fn=VARIABLE.get))

    assert run(steps(), how, bridge) == "set"


@pytest.mark.parametrize(("activity", "name"), [(True, "stateward-activity"), (False, "stateward-database")])
def test_sync_work_does_not_block_the_loop(activity: Any, name: str) -> None:
    """`ainvoke` puts it into a thread: activities apart from the database, so that they cannot stall it."""

    def steps() -> Steps[str]:
        return (yield Work(fn=lambda: threading.current_thread().name, activity=activity))

    assert asyncio.run(drive_async(steps(), threads=Threads())) == name


def test_bridge_crosses_to_the_callers_loop() -> None:
    """Under `ainvoke`, sync code's async work runs on the loop of the graph."""

    async def main() -> bool:
        loop = asyncio.get_running_loop()
        bridge = Bridge(loop=loop)

        async def here() -> bool:
            return asyncio.get_running_loop() is loop

        return await loop.run_in_executor(None, lambda: bridge.call(here))

    assert asyncio.run(main())


async def its_thread() -> threading.Thread:
    return threading.current_thread()


def test_closed_bridge_leaves_no_thread(bridge: Bridge) -> None:
    """The loop's thread ends with the invocation."""
    thread = bridge.call(its_thread)
    assert (thread.name, thread.is_alive()) == ("stateward-bridge", True)
    bridge.close()
    assert not thread.is_alive()


async def variable() -> str:
    return VARIABLE.get()


def test_context_variables_cross_the_bridge(bridge: Bridge) -> None:
    """Async work sees what its sync caller set."""
    VARIABLE.set("crossed")
    assert bridge.call(variable) == "crossed"


def test_closed_bridge_refuses_calls(bridge: Bridge) -> None:
    """Who was left behind by the invocation makes no more calls."""
    bridge.close()
    with pytest.raises(RunError, match="over"):
        bridge.call(variable)


def in_the_background(work: Callable[[], Any]) -> list[BaseException]:
    """Start a thread whose error is kept; the list is filled when it has ended."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # what the test looks at
            raised.append(error)

    threading.Thread(target=run, name="left-behind").start()
    return raised


def bridge_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "stateward-bridge"}


def left_behind() -> threading.Thread | None:
    return next((thread for thread in threading.enumerate() if thread.name == "left-behind"), None)


def test_closing_the_bridge_ends_the_calls_being_made(bridge: Bridge) -> None:
    """A sync activity that was cancelled does not sit in its call for ever."""
    begun = threading.Event()

    async def forever() -> None:
        begun.set()
        await asyncio.Event().wait()

    raised = in_the_background(lambda: bridge.call(forever))
    begun.wait()
    thread = left_behind()
    bridge.close()
    if thread is not None:
        thread.join()
    assert [type(error) for error in raised] == [CancelledError]


def test_blocked_loop_does_not_hold_up_the_end(bridge: Bridge, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread of a loop that something blocks is left behind."""
    monkeypatch.setattr("stateward.run.drive.GRACE_S", 0.01)
    begun, release = threading.Event(), threading.Event()

    async def block() -> None:
        begun.set()
        release.wait()

    raised = in_the_background(lambda: bridge.call(block))
    begun.wait()
    thread = left_behind()
    bridge.close()
    assert not release.is_set()
    release.set()
    if thread is not None:
        thread.join()
    assert [type(error) for error in raised] == [CancelledError]


def test_default_executor_of_the_bridges_loop_is_not_joined(bridge: Bridge) -> None:
    """LangChain puts sync Runnables there; one that hangs does not hold up the end."""
    begun, release = threading.Event(), threading.Event()
    before = bridge_threads()

    def hang() -> None:
        begun.set()
        release.wait()

    async def leave() -> None:
        _ = asyncio.get_running_loop().run_in_executor(None, hang)

    bridge.call(leave)
    begun.wait()
    bridge.close()
    assert bridge_threads() <= before
    release.set()


def test_loop_that_was_ended_from_inside_says_why(bridge: Bridge) -> None:
    """`SystemExit` in a task of its own ends the loop; the caller gets it, now and on each further call."""

    async def leave() -> None:
        raise SystemExit(3)

    async def wait() -> None:
        await asyncio.gather(leave(), asyncio.Event().wait())

    for work in (wait, variable):
        with pytest.raises(SystemExit):
            bridge.call(work)
    bridge.close()


def test_work_that_must_end_does_although_its_caller_is_cancelled() -> None:
    """It waits in line for a thread, and its caller for it, however often it is cancelled."""
    threads, release = Threads(), threading.Event()
    ended: list[bool] = []

    def steps() -> Steps[None]:
        yield Work(fn=ended.append, args=(True,), must_end=True)

    async def main() -> None:
        for _ in range(DATABASE_LIMIT):
            threads.database.submit(release.wait)
        task = asyncio.create_task(drive_async(steps(), threads=threads))
        for _ in range(2):
            await asyncio.sleep(0)
            task.cancel()
        assert not ended
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended

    asyncio.run(main())
