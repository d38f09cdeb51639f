"""Waiting for the first of: an activity ends, something comes from outside.

Activities that end quickly pay nothing for what may come: a call looks outside at most once in `POLL_S`. Only when
nothing has ended by then a watch of the mailbox begins, which a letter wakes at once. Whoever is told that something
may have come looks at the tables itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from stateward.run.deadline import stop
from stateward.run.hub.crew import Crew, Key
from stateward.run.store.mailbox import Mailbox
from stateward.run.store.watch import POLL_S, Watch

LONGEST_S = 10 * POLL_S
"""How long activities that end one after the other may keep a call from looking outside, in seconds."""


class Attention:
    """What the nodes of one call of a graph wait for; it lives on the call's event loop."""

    def __init__(self) -> None:
        self.crew = Crew()
        """The activities that run in tasks of their own."""
        self._watch: Watch | None = None
        self._looked = time.monotonic()

    @property
    def is_used(self) -> bool:
        """Whether there is something to end."""
        return self._watch is not None or bool(self.crew.others(()))

    @property
    def overdue(self) -> bool:
        """Whether nobody has looked outside for `POLL_S`."""
        return time.monotonic() - self._looked >= POLL_S

    def looks(self) -> None:
        """Note that somebody looks outside now."""
        self._looked = time.monotonic()

    async def first(
        self, *, mailbox: Mailbox | None, session: str, due: float | None, now: Callable[[], float]
    ) -> tuple[Key, object] | None:
        """Wait for the first thing that happens.

        Args:
            mailbox: Where letters may come; None when nobody can send any.
            session: Whose letters.
            due: When the next timer is due, in seconds since the epoch; None when none is pending.
            now: The clock of `due`.

        Returns:
            Key and result of an activity that has finished; None when something may have come from outside.
        """
        if mailbox is None and due is None:
            return await self._ended()
        quiet_s = time.monotonic() - self._looked
        done = self.crew.take() if quiet_s < LONGEST_S else None
        if done is not None:
            return done
        left_s = POLL_S - quiet_s if due is None else min(POLL_S - quiet_s, due - now())
        if left_s > 0:
            await self.crew.wait(left_s)
            done = self.crew.take()
        if done is None and mailbox is not None and left_s > 0:
            done = await self._watched(mailbox, session, due=due)
        if done is None:
            self.looks()
        return done

    async def _ended(self) -> tuple[Key, object]:
        while (done := self.crew.take()) is None:
            await self.crew.wait(None)
        return done

    async def _watched(self, mailbox: Mailbox, session: str, *, due: float | None) -> tuple[Key, object] | None:
        """Wait until an activity has finished or the mailbox says that something may have come."""
        if self._watch is None:
            self._watch = await mailbox.watch(session).__aenter__()
        changed = asyncio.get_running_loop().create_task(self._watch.changed(due=due))
        changed.add_done_callback(lambda _: self.crew.wake())
        try:
            while (done := self.crew.take()) is None and not changed.done():
                await self.crew.wait(None)
        finally:
            await stop(changed)
        if done is None:
            changed.result()
        return done

    async def end(self) -> None:
        """Stop all activities and the watch: the call is over."""
        watch, self._watch = self._watch, None
        if watch is not None:
            await watch.__aexit__(None, None, None)
        await self.crew.end()
