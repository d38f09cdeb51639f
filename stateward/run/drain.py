"""Draining a session: whoever runs it ends the present step, commits it and lets go; the run can be gone on with."""

from __future__ import annotations

import time

from stateward.run.cancel import not_stopped
from stateward.run.drive import Steps, Work
from stateward.run.ordering import Orderer, ended
from stateward.run.store.database import Database
from stateward.run.store.lease import Lease


def drained(database: Database, *, session: str, by: str, reason: str, wait_s: float) -> Steps[None]:
    """Let the call that runs a session end after its step.

    Args:
        database: Where the session is.
        session: Its id.
        by: Who wants it.
        reason: Why.
        wait_s: How many seconds to wait, from 0, until the call has ended.

    Returns:
        A generator of work, which returns at once when nobody runs the session.

    Raises:
        UnknownSession: There is no such session.
        SessionBusy: The call has not ended in time; the order stands.
    """
    orderer, until = Orderer(database, "drain", by=by, reason=reason), time.monotonic() + wait_s
    yield Work(fn=database.sessions.get, args=(session,))
    while True:
        lease: Lease | None = yield Work(fn=database.leases.held, args=(session,))
        if lease is None:
            yield from orderer.forget(session)
            return
        over = yield from orderer.tell(lease)
        left_s = until - time.monotonic()
        if left_s <= 0:
            raise not_stopped(session, wait_s)
        yield ended(over, within_s=left_s)
