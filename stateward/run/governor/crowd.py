"""What the calls of one run of an agent share while they are made: how many at once, their pace, their working time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from threading import BoundedSemaphore, Lock
from weakref import WeakValueDictionary

from stateward.run.door.door import FAN_OUT
from stateward.run.door.traffic import Traffic


class Crowd:
    """The calls of one run; the steps of LangGraph that make them at the same time hold on to it."""

    def __init__(self) -> None:
        self.traffic = Traffic()
        self._threads = BoundedSemaphore(FAN_OUT)
        self._tasks = asyncio.Semaphore(FAN_OUT)
        self._under_way = 0
        self._idle: asyncio.Event | None = None

    @contextmanager
    def place(self) -> Generator[None]:
        """Wait in this thread until there is room for one more tool call, and take it while the block runs."""
        with self._threads:
            yield

    @asynccontextmanager
    async def aplace(self) -> AsyncGenerator[None]:
        """Wait on the loop until there is room for one more tool call, and take it while the block runs."""
        self._under_way += 1
        try:
            async with self._tasks:
                yield
        finally:
            self._under_way -= 1
            if self._idle is not None and not self._under_way:
                self._idle.set()

    async def quiet(self) -> None:
        """Wait until no call is under way: LangGraph ends the others when one of a reply's calls raises something."""
        if self._under_way:
            self._idle = self._idle or asyncio.Event()
            await self._idle.wait()


class Crowds:
    """The crowds of the runs that are under way in this process; one that nobody holds on to is forgotten."""

    def __init__(self) -> None:
        self._known: WeakValueDictionary[tuple[str, str], Crowd] = WeakValueDictionary()
        self._lock = Lock()

    def of(self, session: str, *, run: str) -> Crowd:
        """Return the crowd of a run.

        Args:
            session: The session.
            run: The run, and what is else in its name.
        """
        with self._lock:
            crowd = self._known.get((session, run))
            if crowd is None:
                crowd = self._known[session, run] = Crowd()
            return crowd
