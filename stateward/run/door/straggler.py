"""Sync code of one call that runs in threads: Python cannot end it, so the session waits for what was given up.

A call that is cancelled ends at once, and what it had begun in a thread goes on. Until that has ended nobody else may
run the session: an activity would run a second time beside the first (DESIGN decision 17). Code that is past its own
limit in time is another thing: its call was answered, and the run went on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock
from typing import Any, TypeVar

from stateward.run.threads import Pool

T = TypeVar("T")


class Stragglers:
    """What a call has running in threads."""

    def __init__(self) -> None:
        self._jobs: dict[Future[Any], str] = {}
        self._last: Callable[[], None] | None = None
        self._lock = Lock()

    @property
    def names(self) -> tuple[str, ...]:
        """What runs, in the order in which it was begun."""
        with self._lock:
            return tuple(self._jobs.values())

    def begun(self, job: Future[Any], what: str) -> None:
        """Note sync code that was handed to a thread.

        Args:
            job: Its future, as the pool returned it.
            what: What it is, for a message.
        """
        with self._lock:
            self._jobs[job] = what
        job.add_done_callback(self.forget)

    def forget(self, job: Future[Any]) -> None:
        """Wait no longer for sync code: it has ended, or its time is over and the run went on without it.

        Args:
            job: Its future.
        """
        with self._lock:
            self._jobs.pop(job, None)
            last = None if self._jobs else self._last
            if last is not None:
                self._last = None
        if last is not None:
            last()

    def outlast(self, last: Callable[[], None]) -> bool:
        """Let something be done when all has ended, in the thread that ends last.

        Args:
            last: What is done; not called when nothing runs.

        Returns:
            Whether something runs.
        """
        with self._lock:
            self._last = last if self._jobs else None
            return bool(self._jobs)


async def in_thread(
    fn: Callable[[], T], *, pool: Pool, stragglers: Stragglers, what: str, spared: Callable[[], bool]
) -> T:
    """Run a sync activity in a thread and await it.

    Args:
        fn: The activity.
        pool: Where the thread comes from.
        stragglers: Of the call; cancelled, the activity goes on there.
        what: What it is, for a message.
        spared: Asked when the task is cancelled: whether the activity may end first.

    Returns:
        What it returns.
    """
    job = pool.submit(fn)
    stragglers.begun(job, what)
    running = asyncio.wrap_future(job)
    while True:
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            # It may have ended in the meantime: then it is awaited once more, and what it returns is kept.
            if job.cancel() or not spared():
                running.cancel()
                raise
