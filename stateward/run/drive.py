"""One generator of decisions, two drivers.

A state's node is written once, as a generator that yields what it needs from the outside and is sent the result. The
driver for `invoke` runs sync work in place and crosses over to one event loop for async work; the driver for `ainvoke`
awaits async work in place and puts sync work into a thread, as LangGraph does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from functools import partial
from inspect import GEN_SUSPENDED, getgeneratorstate
from threading import Lock
from typing import Any, TypeVar, cast

from stateward.errors import RunError
from stateward.run.deadline import finished, stop
from stateward.run.loop_thread import Loops, LoopThread
from stateward.run.threads import Threads

T = TypeVar("T")

GRACE_S = 1.0
"""How long a loop of ours may take to end before it is left behind, in seconds."""


class LeftEarly(BaseException):  # a signal, like GeneratorExit: no activity may take it for an error of its own
    """Whoever reads the stream of the graph has left it: what its nodes wait for does not come."""


class Bridge:
    """The crossing from sync code to the event loop of its invocation.

    For `ainvoke` that is the loop that runs the graph; for `invoke` one in a thread of ours, which is taken when first
    needed and given back when the invocation ends.

    Args:
        loop: The loop that runs the graph; None for `invoke`.
        loops: Those that wait for a call; None for one that ends with this bridge.
    """

    def __init__(self, *, loop: asyncio.AbstractEventLoop | None = None, loops: Loops | None = None) -> None:
        self.caller = loop
        """The loop that runs the graph; None for `invoke`."""
        self._loop = loop
        self._loops = loops
        self._own: LoopThread | None = None
        self._calls: set[Future[Any]] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        """What the calls are on the loop; one that was ended may take a moment to stop."""
        self._closed = False
        self._left = False
        self._left_behind = False
        """Whether the loop was given back: it may be another call's by now."""
        self._lock = Lock()

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the invocation's loop and wait for it; never call this from that loop.

        Args:
            work: Makes the coroutine.

        Returns:
            What the coroutine returns; what it raises is raised here.

        Raises:
            RunError: The invocation is over; whoever calls was left behind by it.
            LeftEarly: The stream of the graph was left.
        """
        future = self._begin(work)
        try:
            return _opened(future.result())
        except CancelledError:
            if self._broken is not None:
                raise self._broken from None
            if self._left:
                raise LeftEarly from None
            raise
        except BaseException:
            future.cancel()
            raise
        finally:
            with self._lock:
                self._calls.discard(future)

    def _begin(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[_Result[T]]:
        with self._lock:
            if self._closed:
                raise _over()
            if self._broken is not None:
                raise self._broken
            if self._left:
                raise LeftEarly
            loop = self._loop = self._loop or self._open()
            future = asyncio.run_coroutine_threadsafe(self._made(work), loop)
            self._calls.add(future)
            return future

    def check(self) -> None:
        """Look, from any thread, whether what would be called here is still waited for.

        Raises:
            RunError: The invocation is over.
            LeftEarly: The stream of the graph was left, or its nodes are to stop.
        """
        with self._lock:
            if self._closed:
                raise _over()
            if self._left:
                raise LeftEarly

    async def _made(self, work: Callable[[], Coroutine[Any, Any, T]]) -> _Result[T]:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            return await _caught(work)
        finally:
            self._tasks.discard(task)

    async def rest(self) -> None:
        """Wait until the calls that were ended have stopped, but no longer than a short grace; on the loop itself."""
        own = asyncio.current_task()
        await stop(*[task for task in self._tasks if task is not own])

    @property
    def is_busy(self) -> bool:
        """Whether a call that was made has not stopped yet."""
        return bool(self._tasks)

    def _open(self) -> asyncio.AbstractEventLoop:
        self._own = LoopThread() if self._loops is None else self._loops.take()
        return self._own.loop

    @property
    def _broken(self) -> BaseException | None:
        """What ended the loop before its time."""
        return None if self._own is None else self._own.broken

    def hand_on(self, parts: Iterator[T]) -> Iterator[T]:
        """Hand on the parts of a stream; when their reader leaves early, the calls of its nodes end.

        LangGraph waits for its nodes when its stream is closed, so they would hold up a reader who has gone.

        Args:
            parts: From the graph's own stream.

        Returns:
            The same parts.
        """
        for part in parts:
            try:
                yield part
            except BaseException:
                self.leave()
                raise

    def leave(self) -> None:
        """End the calls that are being made, and refuse more until the bridge is opened again; from any thread."""
        with self._lock:
            self._left = True
            calls = tuple(self._calls)
        for call in calls:
            call.cancel()

    def reopen(self) -> None:
        """Let calls be made again, when the nodes of a stream that was left are over."""
        with self._lock:
            self._left = False

    def close(self) -> None:
        """End the calls that are being made, and give back the loop, when one was needed.

        A loop that cannot end, because something blocks it, is left behind.
        """
        with self._lock:
            self._closed = True
            calls, own = tuple(self._calls), None if self._left_behind else self._own
            self._left_behind = True
        for call in calls:
            call.cancel()
        if own is not None:
            own.leave(self._loops, patience_s=GRACE_S)


def _over() -> RunError:
    return RunError("The call of the graph is over", fix="Make no calls after the activity has ended.")


_Result = tuple[T, None] | tuple[None, BaseException]


async def _caught(work: Callable[[], Coroutine[Any, Any, T]]) -> _Result[T]:
    """Carry an exception as a value: a signal that is no `Exception` would bring down the loop's task group."""
    try:
        return await work(), None
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001  # raised again by the caller
        return None, error


def _opened(result: _Result[T]) -> T:
    value, error = result
    if error is not None:
        raise error
    return cast(T, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A piece of work a node asks its driver to do: a sync function, an async one, or both forms of the same."""

    fn: Callable[..., Any] | None = None
    args: tuple[Any, ...] = ()
    afn: Callable[..., Coroutine[Any, Any, Any]] | None = None
    activity: bool = False
    """Whether the function is a user's, which may hang; any other works on the database."""
    must_end: bool = False
    """Whether a sync function runs to its end although its caller is cancelled.

    After Ctrl-C in its middle it is done once more, and must not mind that.
    """


Steps = Generator[Work, Any, T]
"""A generator of work that returns a T; what the work raised is thrown into it."""


def doing(work: Work) -> Steps[Any]:
    """Return the generator that does one piece of work, and returns what it came to.

    Args:
        work: The work.
    """
    return (yield work)


def drive_sync(steps: Steps[T], *, bridge: Bridge) -> T:
    """Run a generator of work for `invoke`.

    Args:
        steps: The generator.
        bridge: Where async work runs.

    Returns:
        What the generator returns.
    """
    try:
        return _driven(steps, partial(next, steps), bridge=bridge)
    except BaseException as interrupt:
        if getgeneratorstate(steps) != GEN_SUSPENDED:
            raise
        # Ctrl-C came between two pieces of work: the generator is told, and cleans up.
        return _driven(steps, partial(steps.throw, interrupt), bridge=bridge)


def _driven(steps: Steps[T], begin: Callable[[], Work], *, bridge: Bridge) -> T:
    try:
        work = begin()
        while True:
            try:
                done = _at_hand(work) if work.fn is not None else bridge.call(partial(_make, work))
            except BaseException as error:  # noqa: BLE001  # thrown into the generator, which decides
                work = steps.throw(error)
            else:
                work = steps.send(done)
    except StopIteration as end:
        return cast(T, end.value)


def _at_hand(work: Work) -> Any:
    fn = cast(Any, work.fn)
    try:
        return fn(*work.args)
    except Exception:
        raise
    except BaseException:
        if work.must_end:
            fn(*work.args)
        raise


def _make(work: Work) -> Coroutine[Any, Any, Any]:
    return cast(Any, work.afn)(*work.args)


async def drive_async(steps: Steps[T], *, threads: Threads) -> T:
    """Run a generator of work for `ainvoke`.

    Args:
        steps: The generator.
        threads: Where sync work runs.

    Returns:
        What the generator returns.
    """
    try:
        work = next(steps)
        while True:
            try:
                done = await (work.afn(*work.args) if work.afn else _in_thread(work, threads))
            except BaseException as error:  # noqa: BLE001  # thrown into the generator, which decides
                work = steps.throw(error)
            else:
                work = steps.send(done)
    except StopIteration as end:
        return cast(T, end.value)


def _in_thread(work: Work, threads: Threads) -> Awaitable[Any]:
    pool = threads.activities if work.activity else threads.database
    running = pool.run(cast(Any, work.fn), *work.args)
    return finished(running) if work.must_end else running
