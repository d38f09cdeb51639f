"""One generator of decisions, two drivers.

A state's node is written once, as a generator that yields what it needs from the outside and is sent the result. The
driver for `invoke` runs sync work in place and crosses over to one event loop for async work; the driver for `ainvoke`
awaits async work in place and puts sync work into a thread, as LangGraph does.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, TypeVar, cast

from anyio.from_thread import BlockingPortal, start_blocking_portal

T = TypeVar("T")


class Bridge:
    """The crossing from sync code to the event loop of its invocation.

    For `ainvoke` that is the loop that runs the graph; for `invoke` one is started in a thread when first needed, and
    ends with the invocation.
    """

    def __init__(self, *, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._loop = loop
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._lock = Lock()

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the invocation's loop and wait for it; never call this from that loop.

        Args:
            work: Makes the coroutine.

        Returns:
            What the coroutine returns; what it raises is raised here.
        """
        if self._loop is not None:
            future: Future[_Result[T]] = asyncio.run_coroutine_threadsafe(_caught(work), self._loop)
            return _opened(future.result())
        return _opened(self._open().call(_caught, work))

    def _open(self) -> BlockingPortal:
        with self._lock:
            if self._portal is None:
                self._portal = self._stack.enter_context(start_blocking_portal())
            return self._portal

    def close(self) -> None:
        """End the loop's thread, when one was started."""
        self._stack.close()


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


Steps = Generator[Work, Any, T]
"""A generator of work that returns a T; what the work raised is thrown into it."""


def drive_sync(steps: Steps[T], *, bridge: Bridge) -> T:
    """Run a generator of work for `invoke`.

    Args:
        steps: The generator.
        bridge: Where async work runs.

    Returns:
        What the generator returns.
    """
    try:
        work = next(steps)
        while True:
            try:
                done = work.fn(*work.args) if work.fn is not None else bridge.call(partial(_make, work))
            except BaseException as error:  # noqa: BLE001  # thrown into the generator, which decides
                work = steps.throw(error)
            else:
                work = steps.send(done)
    except StopIteration as end:
        return cast(T, end.value)


def _make(work: Work) -> Coroutine[Any, Any, Any]:
    return cast(Any, work.afn)(*work.args)


async def drive_async(steps: Steps[T]) -> T:
    """Run a generator of work for `ainvoke`.

    Args:
        steps: The generator.

    Returns:
        What the generator returns.
    """
    try:
        work = next(steps)
        while True:
            try:
                done = await (work.afn(*work.args) if work.afn else in_thread(cast(Any, work.fn), *work.args))
            except BaseException as error:  # noqa: BLE001  # thrown into the generator, which decides
                work = steps.throw(error)
            else:
                work = steps.send(done)
    except StopIteration as end:
        return cast(T, end.value)


def in_thread(fn: Callable[..., T], *args: Any) -> Awaitable[T]:
    """Run a blocking function in a thread, with the caller's context variables.

    Args:
        fn: The function.
        args: Its arguments.

    Returns:
        An awaitable of its result.
    """
    context = contextvars.copy_context()
    return asyncio.get_running_loop().run_in_executor(None, lambda: context.run(fn, *args))
