"""Stopping: Ctrl-C and SIGTERM ask the runs of this process to end at their next checkpoint."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncGenerator, Generator, Iterable
from typing import Any

from langgraph.runtime import RunControl

EXIT_STOPPED = 130
GRACE_S = 10.0
"""How long a call may take to come to its checkpoint before it is cancelled, in seconds."""


class Stopped(Exception):  # named after what happened, as in errors.py
    """A run ended at a checkpoint because the process is to stop."""


class Stop:
    """The wish to stop, shared by all runs of one command."""

    def __init__(self) -> None:
        self._controls: set[RunControl] = set()
        self._asked = asyncio.Event()

    @property
    def requested(self) -> bool:
        """Whether somebody wants to stop."""
        return self._asked.is_set()

    def request(self) -> None:
        """Ask all runs to end at their next checkpoint; asked again, leave at once."""
        if self.requested:
            # What is under way is known to the journal; a dead process holds no lease.
            os._exit(EXIT_STOPPED)
        self._asked.set()
        for control in self._controls:
            control.request_drain("stopped")

    @contextlib.contextmanager
    def control(self) -> Generator[RunControl]:
        """Lend LangGraph's control of one run.

        Raises:
            Stopped: Nothing is begun any more.
        """
        if self.requested:
            raise Stopped
        control = RunControl()
        self._controls.add(control)
        try:
            yield control
        finally:
            self._controls.discard(control)

    async def finish(self, tasks: Iterable[asyncio.Task[Any]]) -> None:
        """Wait until tasks are done; when a stop is asked for, until they drain or the grace is over.

        Args:
            tasks: The tasks, which are cancelled at the end of the grace.

        Raises:
            Exception: What a task raised that is not `Stopped`.
        """
        working = asyncio.gather(*tasks, return_exceptions=True)
        asked = asyncio.create_task(self._asked.wait())
        await asyncio.wait((working, asked), return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()
        if not working.done():
            await asyncio.wait((working,), timeout=GRACE_S)
        if not working.done():
            working.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        _raise_first(tasks)


def _raise_first(tasks: Iterable[asyncio.Task[Any]]) -> None:
    for task in tasks:
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, Stopped):
            raise error


@contextlib.asynccontextmanager
async def stopping_on_signals() -> AsyncGenerator[Stop]:
    """Turn Ctrl-C and SIGTERM into a `Stop` while the block runs.

    Returns:
        A context manager of the stop.
    """
    stop = Stop()
    loop = asyncio.get_running_loop()
    taken: list[signal.Signals] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        # Not in a thread, and not on Windows: there Ctrl-C cancels the main task.
        with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(number, stop.request)
            taken.append(number)
    try:
        yield stop
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
