"""The threads that blocking code runs in, in several pools, so that no kind of work waits for another.

Python cannot end a thread. So the threads of tools and activities are daemons that nobody joins: one that hangs costs a
place in its pool until it ends, and holds up neither the run that gave it up nor the end of the process. The database
has threads of its own, which no tool can take.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

from stateward.run.door.process import Workers

T = TypeVar("T")

LIMIT = 64
"""Tools that are in a thread at the same time, those that hang included; as many activities beside."""
DATABASE_LIMIT = 4
"""Threads of the database; its connection serves one at a time."""
IDLE_S = 1.0
"""How long a thread waits for more work before it ends, in seconds."""


_Job = tuple[Future[Any], Callable[[], Any]]


class Pool:
    """Daemon threads, made when they are needed; they end when they have been idle, and are never joined.

    Args:
        name: What its threads are called.
        limit: How many there may be, at least 1; further work waits for one.
    """

    def __init__(self, name: str, *, limit: int) -> None:
        self.name = name
        self.limit = limit
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._lock = Lock()
        self._queued = 0
        """Jobs that no thread has taken; a thread that takes one counts it and itself out at the same time."""
        self._idle = 0
        self._count = 0
        self._process = os.getpid()

    @property
    def idle(self) -> int:
        """Threads that wait for work."""
        return self._idle

    @property
    def is_idle(self) -> bool:
        """Whether no job waits for a thread, or runs in one."""
        with self._lock:
            return self._queued == 0 and self._idle == self._count

    @property
    def threads(self) -> int:
        """Threads there are."""
        return self._count

    @property
    def waiting(self) -> int:
        """Jobs that wait for a thread."""
        return self._queued

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
        if self._process != os.getpid():
            self._begin_anew()
        with self._lock:
            if self._count >= self.limit:
                self._forget_cancelled()
            self._queued += 1
            grow = self._idle < self._queued and self._count < self.limit
            self._count += grow
            self._jobs.put(job)
        if grow:
            self._start(future)
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

    def _begin_anew(self) -> None:
        """Forget the threads and jobs of the parent: none of them came along when this process was forked off it."""
        self._jobs, self._lock = SimpleQueue(), Lock()
        self._queued = self._idle = self._count = 0
        self._process = os.getpid()

    def _start(self, future: Future[Any]) -> None:
        try:
            Thread(target=self._work, name=self.name, daemon=True).start()
        except BaseException:
            with self._lock:
                self._count -= 1
            future.cancel()
            raise

    def _forget_cancelled(self) -> None:
        """Let go of what nobody waits for any more: behind threads that all hang it would pile up."""
        for _ in range(self._jobs.qsize()):
            with suppress(Empty):
                job = self._jobs.get_nowait()
                if job[0].cancelled():
                    self._queued -= 1
                else:
                    self._jobs.put(job)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            _settle(*job)
            del job

    def _next(self) -> _Job | None:
        with self._lock:
            self._idle += 1
        try:
            job = self._jobs.get(timeout=IDLE_S)
        except Empty:
            return self._last()
        with self._lock:
            self._idle -= 1
            self._queued -= 1
        return job

    def _last(self) -> _Job | None:
        """Take a job that came just now, or count the thread out."""
        with self._lock:
            self._idle -= 1
            try:
                job = self._jobs.get_nowait()
            except Empty:
                self._count -= 1
                return None
            self._queued -= 1
            return job


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
        self.lookups = Pool("stateward-lookup", limit=limit)
        """For work on the database that looks up, with a function of a tool, what became of its call."""
        self.processes = Workers()
        """For sync tools that must be killable."""
        self.activities = Pool("stateward-activity", limit=limit)
        """For sync activities under `ainvoke`; apart from the tools that they wait for."""


class LoopThreads(ThreadPoolExecutor):
    """The default executor of a loop of ours: daemon threads too, so that its end does not wait for them.

    LangChain puts sync Runnables and sync tools there.
    """

    def __init__(self) -> None:
        super().__init__(max_workers=1)
        self._pool = Pool("stateward-loop", limit=LIMIT)

    @property
    def is_idle(self) -> bool:
        """Whether no function that was given is waiting or running."""
        return self._pool.is_idle

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

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the threads to themselves.

        Args:
            wait: Unused.
            cancel_futures: Unused.
        """
