"""Telling the call that holds a session what it is to do, wherever it runs, and waiting for its end."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Literal

from stateward.run.drive import Steps, Work
from stateward.run.store.database import Database
from stateward.run.store.lease import Lease
from stateward.run.store.orders import DRAIN, cancelling
from stateward.run.store.watch import POLL_S

Kind = Literal["cancelled", "drain"]
"""`cancelled`: stop now, and the run is over; `drain`: end after the step, and the run can be gone on with."""


class Orderer:
    """Whoever wants something of the calls that hold a session, one after the other.

    Args:
        database: Where the session is.
        kind: What is wanted.
        by: Who wants it.
        reason: Why.
    """

    def __init__(self, database: Database, kind: Kind, *, by: str, reason: str) -> None:
        self._database = database
        self._kind: Kind = kind
        self._by = by
        self._reason = reason
        self._told: set[int] = set()
        self._given = False
        """Whether an order is in the database."""

    def tell(self, lease: Lease) -> Steps[Future[None] | None]:
        """Tell the call behind a lease, once.

        Args:
            lease: The lease, whoever holds it.

        Returns:
            A generator of work that returns what is done when the call has ended, if it is a call of this process.
        """
        registry, is_new = self._database.registry, lease.fence not in self._told
        self._told.add(lease.fence)
        live = registry.find(lease.session)
        if live is None or live.fence != lease.fence:
            if is_new:
                give = partial(self._database.orders.give, lease.session, fence=lease.fence, kind=self._kind)
                self._given = True
                yield Work(fn=partial(give, by=self._by, reason=self._reason))
            return None
        if self._kind == DRAIN:
            live.drain()
        else:
            live.halt(cancelling(by=self._by, reason=self._reason))
        return registry.over(lease.session)

    def forget(self, session: str) -> Steps[None]:
        """Take orders back that have been followed.

        Args:
            session: The session's id.

        Returns:
            A generator of work.
        """
        if self._given:
            yield Work(fn=partial(self._database.orders.clear, session, fence=max(self._told)))


def ended(over: Future[None] | None, *, within_s: float) -> Work:
    """Return the work that waits for the end of a call, or for a moment when it is another process's.

    Args:
        over: What `Orderer.tell` returned.
        within_s: Seconds at most, from 0.
    """
    return Work(fn=_wait, afn=_await, args=(over, within_s))


def _wait(over: Future[None] | None, within_s: float) -> None:
    moment: Future[None] = Future()  # nobody sets it
    with suppress(TimeoutError):
        (over or moment).result(within_s if over is not None else min(within_s, POLL_S))


async def _await(over: Future[None] | None, within_s: float) -> None:
    if over is None:
        await asyncio.sleep(min(within_s, POLL_S))
        return
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.wrap_future(over), within_s)
