"""The calls of an activity that are being made now, so that none outlives the activity."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


class InFlight:
    """The tasks that are inside a call.

    An author may gather calls; when one of them asks a person, the activity ends while its siblings still run.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    @contextmanager
    def call(self) -> Generator[None]:
        """Keep the present task in mind until its call has ended."""
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
        try:
            yield
        finally:
            if task is not None:
                self._tasks.discard(task)

    async def rest(self, *, cancel: bool = False) -> None:
        """Wait for the calls of other tasks.

        Args:
            cancel: Whether to end them at once, because the activity itself was cancelled.
        """
        others = self._tasks - {asyncio.current_task()}
        for task in others if cancel else ():
            task.cancel()
        if others:
            await asyncio.wait(others)
