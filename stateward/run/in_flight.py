"""The calls of an activity that are being made now, so that none outlives the activity."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from stateward.errors import RunError
from stateward.run.deadline import stop


class InFlight:
    """The tasks that are inside a call.

    An author may gather calls; when one of them asks a person, the activity ends while its siblings still run.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    @contextmanager
    def call(self) -> Generator[None]:
        """Keep the present task in mind until its call has ended.

        Raises:
            RunError: The activity is over.
        """
        self.check()
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
        try:
            yield
        finally:
            if task is not None:
                self._tasks.discard(task)

    def check(self) -> None:
        """Refuse a call that comes after the end.

        Raises:
            RunError: The activity is over; what calls was left behind by its limit in time.
        """
        if self._closed:
            raise RunError("The activity is over: it took too long", fix="Let it end when it is cancelled.")

    def close(self) -> None:
        """Let no further call begin."""
        self._closed = True

    async def rest(self, *, cancel: bool = False) -> None:
        """Wait for the calls of other tasks.

        Args:
            cancel: Whether to end them at once, because the activity itself was cancelled; one that does not stop is
                left behind.
        """
        others = self._tasks - {asyncio.current_task()}
        if cancel:
            await stop(*others)
        elif others:
            await asyncio.wait(others)
