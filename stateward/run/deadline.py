"""Limits in time that hold, whatever the work makes of them.

Work can swallow its cancellation, block the event loop, or sit in a thread that hangs. What it comes to after its limit
does not count; what does not stop is left behind.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from stateward.errors import RunError
from stateward.run.door.straggler import Stragglers
from stateward.run.threads import Pool

T = TypeVar("T")

GRACE_S = 0.2
"""How long cancelled async work may take to stop before it is left behind, in seconds (DESIGN decision 17)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """Work did not end within its limit."""

    began: bool
    """Whether it had begun at all: in a thread, it may have waited for a free one."""


@dataclass(frozen=True, slots=True)
class _End(Generic[T]):
    """What work came to, and when; an exception is carried as a value, to know its time too."""

    value: T | None
    error: BaseException | None
    at: float

    def open(self) -> T:
        if isinstance(self.error, GeneratorExit):
            raise own_exit() from self.error
        if self.error is not None:
            raise self.error
        return cast(T, self.value)


async def in_time(work: Callable[[], Awaitable[T]], *, timeout_s: float | None) -> T | Late:
    """Await work for at most so long.

    Args:
        work: Makes the awaitable.
        timeout_s: Seconds, more than 0; None for no limit.

    Returns:
        What it returns, or `Late` when it ended after its limit or had to be cancelled. What it raises in time is
        raised here.

    Raises:
        RunError: It was cancelled, but not by who awaits it.
    """
    try:
        return await _in_time(work, timeout_s)
    except asyncio.CancelledError as cancelled:
        if is_cancelled():
            raise
        raise own_cancellation() from cancelled


async def apart(work: Callable[[], Awaitable[T]]) -> T:
    """Await work in a task of its own, so that work that cancels its own task does not cancel its caller's.

    Args:
        work: Makes the awaitable; a cancellation of who awaits this is handed on to it, and it is left behind when it
            does not stop within a short grace.

    Returns:
        What it returns.

    Raises:
        RunError: It was cancelled, but not by who awaits it.
    """
    loop = asyncio.get_running_loop()
    woken = loop.create_future()
    task = loop.create_task(_ended(work, wakes=woken))
    # Its last act wakes who waits, a round of the loop earlier than `shield` would; one that was cancelled before its
    # first has none.
    task.add_done_callback(lambda _: _wake(woken))
    try:
        await woken
        return task.result().open()
    except asyncio.CancelledError as cancelled:
        if is_cancelled():
            await stop(task)
            raise
        raise own_cancellation() from cancelled


def is_cancelled() -> bool:
    """Whether somebody cancels the present task; a `CancelledError` comes from inside otherwise."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs here
        return False
    return task is not None and task.cancelling() > 0


def own_cancellation() -> RunError:
    """Return the error of work that was cancelled from inside: as a cancellation it would end the whole run."""
    return RunError("It was cancelled from inside", fix="Catch the `CancelledError` of what it awaits.")


def own_exit() -> RunError:
    """Return the error of work that raised `GeneratorExit`: each generator it passes would take itself for closed."""
    return RunError("It raised `GeneratorExit`", fix="Raise an `Exception`; this one is Python's own.")


async def finished(work: asyncio.Future[T]) -> T:
    """Await work that must not be given up: when the caller is cancelled, the work ends first.

    Args:
        work: Short work, on the database for instance.

    Returns:
        What it returns.
    """
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        while not work.done():
            with suppress(asyncio.CancelledError):  # again, by who waits for it a second time
                await asyncio.wait((work,))
        raise


async def at_end(pool: Pool, work: Callable[..., T], *args: Any) -> T:
    """Run blocking work in a thread and await it as `finished` does, with fewer rounds of the loop.

    Args:
        pool: Where the thread comes from.
        work: Short work, on the database for instance.
        args: What it is called with.

    Returns:
        What it returns.
    """
    loop = asyncio.get_running_loop()
    woken = loop.create_future()
    job = pool.submit(work, *args)
    job.add_done_callback(lambda _: _wake_from_thread(loop, woken))
    try:
        await woken
    except asyncio.CancelledError:
        while not job.done():
            with suppress(asyncio.CancelledError):  # again, by who waits for it a second time
                await asyncio.wait((asyncio.wrap_future(job),))
        raise
    return job.result()


def _wake_from_thread(loop: asyncio.AbstractEventLoop, woken: asyncio.Future[None]) -> None:
    with suppress(RuntimeError):  # the loop has ended, and nobody waits
        loop.call_soon_threadsafe(_wake, woken)


async def _in_time(work: Callable[[], Awaitable[T]], timeout_s: float | None) -> T | Late:
    if timeout_s is None:
        return await apart(work)
    until, loop = time.monotonic() + timeout_s, asyncio.get_running_loop()
    woken = loop.create_future()
    task = loop.create_task(_ended(work, wakes=woken))
    timer = loop.call_later(timeout_s, _wake, woken)
    try:
        await woken
    except asyncio.CancelledError:
        await stop(task)
        raise
    finally:
        timer.cancel()
    if not task.done():
        await stop(task)
        return Late(began=True)
    end = task.result()
    return Late(began=True) if end.at > until else end.open()


async def thread_in_time(
    pool: Pool, work: Callable[[], T], *, timeout_s: float | None, stragglers: Stragglers | None = None, what: str = ""
) -> T | Late:
    """Run blocking work in a thread and await it for at most so long; the wait for a free thread counts.

    Args:
        pool: Where the thread comes from.
        work: The work; its thread goes on when it is late.
        timeout_s: Seconds, more than 0; None for no limit.
        stragglers: Of the call of a graph: when this is cancelled, the work goes on there. None for any other work.
        what: What the work is, for a message.

    Returns:
        What it returns, or `Late`. What it raises in time is raised here.

    Raises:
        RunError: It raised `CancelledError`.
    """
    until = time.monotonic() + (timeout_s or 0.0)
    job = pool.submit(_ended_sync, work)
    stragglers = stragglers or Stragglers()
    stragglers.begun(job, what)
    if timeout_s is None:
        return (await asyncio.wrap_future(job)).open()
    try:
        await asyncio.wait((running := asyncio.wrap_future(job),), timeout=timeout_s)
    except asyncio.CancelledError:
        job.cancel()
        raise
    if not running.done():
        stragglers.forget(job)
        return Late(began=not job.cancel())
    end = running.result()
    return Late(began=True) if end.at > until else end.open()


async def stop(*tasks: asyncio.Future[Any]) -> None:
    """Cancel tasks and wait until they have stopped, but no longer than a short grace.

    Args:
        tasks: The tasks; one that swallows its cancellation is left behind.
    """
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=GRACE_S)


async def _ended(work: Callable[[], Awaitable[T]], *, wakes: asyncio.Future[None] | None = None) -> _End[T]:
    try:
        value = await work()
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001  # raised again by `open`
        return _End(None, error, time.monotonic())
    finally:
        if wakes is not None:  # by its last act, and not by a callback: that would take the loop another round
            _wake(wakes)
    return _End(value, None, time.monotonic())


def _wake(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)


def _ended_sync(work: Callable[[], T]) -> _End[T]:
    try:
        value = work()
    except asyncio.CancelledError:
        return _End(None, own_cancellation(), time.monotonic())
    except BaseException as error:  # noqa: BLE001  # raised again by `open`
        return _End(None, error, time.monotonic())
    return _End(value, None, time.monotonic())
