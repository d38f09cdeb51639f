"""The threads that blocking code runs in: three pools, so that no kind of work waits for another.

Python cannot end a thread. So the threads of tools and activities are daemons that nobody joins: one that hangs costs a
place in its pool until it ends, and holds up neither the run that gave it up nor the end of the process. The database
has threads of its own, which no tool can take.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from threading import Condition, Thread
from typing import Any, TypeVar

T = TypeVar("T")

LIMIT = 64
"""Tools that are in a thread at the same time, those that hang included; as many activities beside."""
DATABASE_LIMIT = 4
"""Threads of the database; its connection serves one at a time."""
IDLE_S = 1.0
"""How long a thread waits for more work before it ends, in seconds."""


class Pool:
    """Daemon threads, made when they are needed; they end when they have been idle, and are never joined.

    Args:
        name: What its threads are called.
        limit: How many there may be, at least 1; further work waits for one.
    """

    def __init__(self, name: str, *, limit: int) -> None:
        self.name = name
        self.limit = limit
        self._changed = Condition()
        self._jobs: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._idle = 0
        self._count = 0

    def submit(self, fn: Callable[..., T], *args: Any) -> Future[T]:
        """Run a function in a thread, with the caller's context variables.

        Args:
            fn: The function.
            args: Its arguments.

        Returns:
            Its future; `cancel` tells whether it was stopped before it began.
        """
        future: Future[T] = Future()
        job = (future, partial(copy_context().run, fn, *args))
        with self._changed:
            self._jobs.append(job)
            if self._idle >= len(self._jobs):
                self._changed.notify()
                return future
            if self._count >= self.limit:
                self._forget_cancelled()
                return future
            self._count += 1
        self._start(job)
        return future

    def run(self, fn: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """Run a function in a thread and await it, with the caller's context variables.

        Args:
            fn: The function.
            args: Its arguments.

        Returns:
            An awaitable of its result. Cancelled, it does not stop what has begun.
        """
        return asyncio.wrap_future(self.submit(fn, *args))

    def _start(self, job: tuple[Future[Any], Callable[[], Any]]) -> None:
        try:
            Thread(target=self._work, name=self.name, daemon=True).start()
        except BaseException:
            with self._changed:
                self._count -= 1
                if job in self._jobs:
                    self._jobs.remove(job)
            raise

    def _forget_cancelled(self) -> None:
        """Let go of what nobody waits for any more: behind threads that all hang it would pile up."""
        self._jobs = deque(job for job in self._jobs if not job[0].cancelled())

    def _work(self) -> None:
        while (job := self._next()) is not None:
            _settle(*job)
            del job

    def _next(self) -> tuple[Future[Any], Callable[[], Any]] | None:
        with self._changed:
            self._idle += 1
            if not self._jobs:
                self._changed.wait_for(lambda: self._jobs, timeout=IDLE_S)
            self._idle -= 1
            if self._jobs:
                return self._jobs.popleft()
            self._count -= 1
            return None


def _settle(future: Future[Any], call: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except StopIteration as error:
        # An awaitable cannot raise it: whoever awaits would wait for ever.
        future.set_exception(RuntimeError(f"it raised StopIteration({error})"))
    except BaseException as error:  # noqa: BLE001  # raised where the future is awaited
        future.set_exception(error)
    else:
        future.set_result(result)


class Threads:
    """The pools of one database, or of one graph without a database.

    Args:
        limit: How many tools may be in a thread at the same time, at least 1; as many activities beside.
    """

    def __init__(self, *, limit: int = LIMIT) -> None:
        self.database = Pool("stateward-database", limit=DATABASE_LIMIT)
        """For work on the database, which never waits for a tool."""
        self.tools = Pool("stateward-tool", limit=limit)
        """For sync tools."""
        self.activities = Pool("stateward-activity", limit=limit)
        """For sync activities under `ainvoke`; apart from the tools that they wait for."""


class LoopThreads(ThreadPoolExecutor):
    """The default executor of a loop of ours: daemon threads too, so that its end does not wait for them.

    LangChain puts sync Runnables and sync tools there.
    """

    def __init__(self) -> None:
        super().__init__(max_workers=1)
        self._pool = Pool("stateward-loop", limit=LIMIT)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run a function in a daemon thread.

        Args:
            fn: The function.
            args: Its positional arguments.
            kwargs: Its keyword arguments.

        Returns:
            Its future.
        """
        return self._pool.submit(partial(fn, *args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002  # stdlib
        """Leave the threads to themselves.

        Args:
            wait: Unused.
            cancel_futures: Unused.
        """
