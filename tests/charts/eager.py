"""Threads whose work has begun when it is handed out: a slow start spends nothing of a short limit in time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Event
from typing import Any, TypeVar

from stateward.run.threads import Pool

T = TypeVar("T")


class Eager(Pool):
    """A pool with a free thread for everything that is submitted."""

    def submit(self, fn: Callable[..., T], *args: Any) -> Future[T]:
        """Run a function in a thread, and return when it has begun."""
        begun = Event()

        def begin(*given: Any) -> T:
            begun.set()
            return fn(*given)

        future = super().submit(begin, *args)
        begun.wait()
        return future
