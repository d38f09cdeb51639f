"""Waiting for letters: a watch is woken by who posts one here, and looks for what other processes have written.

What others write is noticed within `POLL_S`. An idle poll is one `Connection.version`.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType

from stateward.run.store.connection import Connection
from stateward.run.store.per_process import PerProcess
from stateward.run.threads import Threads

POLL_S = 0.05
"""How often a watch looks for what other processes wrote, in seconds."""


class Watch:
    """Notices that something may have come for a session; make it with `Mailbox.watch`.

    The first `changed` returns at once, so that its caller looks at the tables after the watch began:

        async with mailbox.watch(session) as watch:
            while not (letters := await look()):
                await watch.changed(due=wakes_at)

    Args:
        watches: Those that are woken beside it.
        session: The session's id.
        connection: The database.
        threads: Where the database is looked at.
    """

    def __init__(self, watches: Watches, session: str, *, connection: Connection, threads: Threads) -> None:
        self.session = session
        self._watches = watches
        self._connection = connection
        self._threads = threads
        self._seen: object = None
        self._rung = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> Watch:
        """Begin to watch."""
        self._loop = asyncio.get_running_loop()
        self._watches.begin(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._watches.end(self)

    def wake(self) -> None:
        """Let `changed` return, from any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # its loop has ended
                self._loop.call_soon_threadsafe(self._rung.set)

    async def changed(self, *, due: float | None = None) -> None:
        """Wait until something may have come: a letter, a write of another process, or a moment.

        Args:
            due: The moment, in seconds since the epoch by the database's clock; None when none is awaited.
        """
        clock = self._connection.clock
        while not self._rung.is_set():
            version = await self._threads.database.run(self._version)
            if version != self._seen:
                self._seen = version
                break
            left = POLL_S if due is None else min(POLL_S, due - clock.now())
            if left <= 0:
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._rung.wait(), left)
        self._rung.clear()

    def _version(self) -> object:
        return self._connection.persist(self._connection.version)


@dataclass(frozen=True, slots=True)
class _Here:
    """The watches of one process, by session."""

    guard: threading.Lock = field(default_factory=threading.Lock)
    watches: dict[str, set[Watch]] = field(default_factory=dict[str, set[Watch]])


class Watches:
    """The watches of one mailbox; those of a parent are none of a child that was forked off."""

    def __init__(self) -> None:
        self._here = PerProcess(_Here)

    def ring(self, session: str) -> None:
        """Wake the watches of a session in this process, from any thread.

        Args:
            session: The session's id.
        """
        here = self._here.get()
        with here.guard:
            watches = tuple(here.watches.get(session, ()))
        for watch in watches:
            watch.wake()

    def begin(self, watch: Watch) -> None:
        """Let a watch be woken.

        Args:
            watch: A watch that was entered.
        """
        here = self._here.get()
        with here.guard:
            here.watches.setdefault(watch.session, set()).add(watch)

    def end(self, watch: Watch) -> None:
        """Forget a watch.

        Args:
            watch: A watch that is left.
        """
        here = self._here.get()
        with here.guard:
            left = here.watches.get(watch.session, set())
            left.discard(watch)
            if not left:
                here.watches.pop(watch.session, None)
