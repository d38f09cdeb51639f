"""Limits in time that hold."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from stateward.errors import RunError
from stateward.run.deadline import Late, at_end, finished, in_time, stop, thread_in_time
from stateward.run.threads import Pool
from tests.charts.eager import Eager

LIMIT_S = 0.02


async def hello() -> str:
    return "hello"


async def fail() -> None:
    raise TimeoutError("its own")


@pytest.mark.parametrize("timeout_s", [None, 60.0])
def test_work_in_time_counts(timeout_s: float | None) -> None:
    """With and without a limit, in the loop and in a thread."""
    pool = Pool("p", limit=1)
    assert asyncio.run(in_time(hello, timeout_s=timeout_s)) == "hello"
    assert asyncio.run(thread_in_time(pool, lambda: "hello", timeout_s=timeout_s)) == "hello"


@pytest.mark.parametrize("timeout_s", [None, 60.0])
def test_what_work_raises_is_raised(timeout_s: float | None) -> None:
    """A TimeoutError of its own is an error, and not the limit."""
    with pytest.raises(TimeoutError, match="its own"):
        asyncio.run(in_time(fail, timeout_s=timeout_s))
    with pytest.raises(ZeroDivisionError):
        asyncio.run(thread_in_time(Pool("p", limit=1), lambda: 1 / 0, timeout_s=timeout_s))


async def swallow() -> str:
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    return "too late"


async def raise_late() -> None:
    try:
        await asyncio.Event().wait()
    finally:
        raise KeyError("too late")


async def block() -> str:
    threading.Event().wait(2 * LIMIT_S)
    return "too late"


@pytest.mark.parametrize("work", [asyncio.Event().wait, swallow, raise_late, block])
def test_work_that_ends_after_its_limit_is_late(work: Callable[[], Any]) -> None:
    """Whether it was cancelled, swallowed that, or blocked the loop: its result does not count."""
    assert asyncio.run(in_time(work, timeout_s=LIMIT_S)) == Late(began=True)


async def release_after(work: Callable[[], Any], event: asyncio.Event) -> Any:
    try:
        return await work()
    finally:
        event.set()


def test_work_that_never_stops_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancelled again and again, it goes on; the caller does not wait."""
    monkeypatch.setattr("stateward.run.deadline.GRACE_S", 0.001)

    async def main() -> Any:
        go = asyncio.Event()

        async def stubborn() -> None:
            while not go.is_set():
                with contextlib.suppress(asyncio.CancelledError):
                    await go.wait()

        return await release_after(lambda: in_time(stubborn, timeout_s=LIMIT_S), go)

    assert asyncio.run(main()) == Late(began=True)


def test_cancelled_caller_cancels_the_work() -> None:
    """No work is left behind that would have stopped."""

    async def main() -> list[str]:
        log: list[str] = []

        async def work() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                log.append("stopped")

        task = asyncio.create_task(in_time(work, timeout_s=60))
        while not asyncio.all_tasks() - {task, asyncio.current_task()}:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        await stop(task)
        assert task.cancelled()
        return log

    assert asyncio.run(main()) == ["stopped"]


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """What hanging work waits for; it is let go at the end."""
    event = threading.Event()
    yield event
    event.set()


def test_hung_thread_is_late(release: threading.Event) -> None:
    """It goes on, and nobody waits for it."""
    assert asyncio.run(thread_in_time(Eager("p", limit=1), release.wait, timeout_s=LIMIT_S)) == Late(began=True)


def test_waiting_for_a_thread_counts(release: threading.Event) -> None:
    """And what was late that way is known not to have begun, and never begins."""
    pool, log = Pool("p", limit=1), []
    pool.submit(release.wait)

    async def main() -> Any:
        return await thread_in_time(pool, lambda: log.append("ran"), timeout_s=LIMIT_S)

    assert asyncio.run(main()) == Late(began=False)
    release.set()
    pool.submit(int).result()
    assert log == []


def test_thread_that_ended_late_is_late_although_the_loop_was_blocked() -> None:
    """What counts is when the work ended, not when the loop noticed."""
    pool = Eager("p", limit=1)

    async def main() -> Any:
        task = asyncio.create_task(thread_in_time(pool, lambda: threading.Event().wait(2 * LIMIT_S), timeout_s=LIMIT_S))
        await asyncio.sleep(0)
        threading.Event().wait(4 * LIMIT_S)
        return await task

    assert asyncio.run(main()) == Late(began=True)


async def cancel_itself() -> None:
    raise asyncio.CancelledError


def cancel_itself_sync() -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize("timeout_s", [None, 60.0])
def test_work_that_cancels_itself_failed(timeout_s: float | None) -> None:
    """It is no cancellation of who awaits it."""
    pool = Pool("p", limit=1)
    with pytest.raises(RunError, match="from inside"):
        asyncio.run(in_time(cancel_itself, timeout_s=timeout_s))
    with pytest.raises(RunError, match="from inside"):
        asyncio.run(thread_in_time(pool, cancel_itself_sync, timeout_s=timeout_s))


async def exit_itself() -> None:
    raise GeneratorExit


def exit_itself_sync() -> None:
    raise GeneratorExit


@pytest.mark.parametrize("timeout_s", [None, 60.0])
def test_work_that_raises_generator_exit_failed(timeout_s: float | None) -> None:
    """It is Python's word to a generator that nobody reads any more, and nobody closes who awaits it."""
    pool = Pool("p", limit=1)
    with pytest.raises(RunError, match="GeneratorExit"):
        asyncio.run(in_time(exit_itself, timeout_s=timeout_s))
    with pytest.raises(RunError, match="GeneratorExit"):
        asyncio.run(thread_in_time(pool, exit_itself_sync, timeout_s=timeout_s))


def test_work_that_must_end_is_awaited_by_a_cancelled_caller() -> None:
    """The cancellation goes on afterwards."""

    async def main() -> bool:
        work: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(finished(work))
        await asyncio.sleep(0)
        task.cancel()
        for _ in range(3):
            await asyncio.sleep(0)
        waited = not task.done()
        work.set_result("done")
        with pytest.raises(asyncio.CancelledError):
            await task
        return waited

    assert asyncio.run(main())


def test_work_that_must_end_is_waited_for_however_often_its_caller_is_cancelled() -> None:
    """A second cancellation, of a batch for instance, does not leave it alone."""

    async def main() -> bool:
        work: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        caller = asyncio.create_task(finished(work))
        for _ in range(3):
            await asyncio.sleep(0)
            caller.cancel()
        await asyncio.sleep(0)
        waits = not caller.done()
        work.set_result(None)
        with pytest.raises(asyncio.CancelledError):
            await caller
        return waits

    assert asyncio.run(main())


def test_blocking_work_of_a_cancelled_caller_comes_to_its_end() -> None:
    """However often it is cancelled; nobody who waits for the caller goes on before."""

    async def main() -> list[str]:
        log, begun, go = list[str](), threading.Event(), threading.Event()

        def write() -> None:
            begun.set()
            go.wait(60)
            log.append("written")

        task = asyncio.create_task(at_end(Pool("p", limit=1), write))
        await asyncio.to_thread(begun.wait, 60)
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0)
        go.set()
        await asyncio.wait({task})
        return [*log, str(task.cancelled())]

    assert asyncio.run(main()) == ["written", "True"]


def test_what_blocking_work_comes_to_is_told() -> None:
    """Its result, and what it raises."""
    pool = Pool("p", limit=1)
    assert asyncio.run(at_end(pool, divmod, 7, 2)) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(at_end(pool, divmod, 7, 0))


def test_work_that_is_cancelled_before_it_begins_failed() -> None:
    """By who cancels all tasks but its own: who waits for the work does not wait for ever."""

    async def main() -> None:
        waiting = asyncio.create_task(in_time(hello, timeout_s=None))
        await asyncio.sleep(0)
        (work,) = asyncio.all_tasks() - {waiting, asyncio.current_task()}
        work.cancel()
        await waiting

    with pytest.raises(RunError, match="cancelled from inside"):
        asyncio.run(main())
