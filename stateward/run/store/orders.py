"""Orders to the call that runs a session, wherever it runs: to stop it now, or to let it end after its step.

An order names the fence of the lease that the call holds, so that it never reaches a later call. Who runs the session
looks for orders (`run/registry.py`); who gives one waits until the lease is free.
"""

from __future__ import annotations

from typing import Any

from stateward.run.brake import Halt
from stateward.run.registry import Order
from stateward.run.store.audit_log import AuditLog
from stateward.run.store.connection import Connection, persistent
from stateward.run.text import checked_text

DRAIN = "drain"
"""The kind of an order to end after the step; any other kind is a way in which a run ends."""


def cancelling(*, by: str, reason: str) -> Halt:
    """Return the halt of a run that somebody cancels.

    Args:
        by: Who.
        reason: Why.

    Raises:
        InputRefused: One of them cannot be kept.
    """
    _refuse_unkept(by, reason)
    return Halt(status="cancelled", event="cancelled", data={"by": by, "reason": reason})


class Orders:
    """The orders of one database.

    Args:
        connection: The database.
        audit: Where it is recorded who ordered what.
    """

    def __init__(self, connection: Connection, *, audit: AuditLog) -> None:
        self._connection = connection
        self._audit = audit
        self._seen: object = None

    @persistent
    def give(self, session: str, *, fence: int, kind: str, by: str, reason: str) -> None:
        """Order something of the call that holds a session; the first order of a kind stands.

        Args:
            session: The session's id.
            fence: Of the lease that the call holds.
            kind: `cancelled` or `drain`.
            by: Who orders it.
            reason: Why.

        Raises:
            InputRefused: The name or the reason cannot be kept.
        """
        _refuse_unkept(by, reason)
        with self._connection.transaction(session) as cur:
            now = self._connection.now()
            cur.execute("DELETE FROM stateward_orders WHERE session = ? AND fence < ?", (session, fence))
            cur.execute(
                "INSERT INTO stateward_orders (session, fence, kind, by, reason, at) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (session, fence, kind) DO NOTHING",
                (session, fence, kind, by, reason, now),
            )
            if cur.rowcount:
                told = {"event": "ordered", "session": session, "order": kind, "by": by, "reason": reason}
                self._audit.append(told)

    @persistent
    def new(self) -> tuple[Order, ...]:
        """Read all orders, if anybody has written anything since the last time."""
        version = self._connection.version()
        if version == self._seen:
            return ()
        self._seen = version
        with self._connection.read() as cur:
            cur.execute("SELECT session, fence, kind, by, reason FROM stateward_orders")
            return tuple(_order(row) for row in cur.fetchall())

    @persistent
    def clear(self, session: str, *, fence: int) -> None:
        """Forget the orders to a call that is over.

        Args:
            session: The session's id.
            fence: Of its lease.
        """
        with self._connection.transaction(session) as cur:
            cur.execute("DELETE FROM stateward_orders WHERE session = ? AND fence <= ?", (session, fence))


def _refuse_unkept(by: str, reason: str) -> None:
    checked_text(by, what="who orders it")
    checked_text(reason, what="the reason of an order")


def _order(row: tuple[Any, ...]) -> Order:
    session, fence, kind, by, reason = row
    return Order(session=session, fence=fence, halt=None if kind == DRAIN else cancelling(by=by, reason=reason))
