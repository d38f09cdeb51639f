"""Turns: inputs that wait for a session which somebody runs, in the order in which they came.

Each has a number and, like a lease, a holder and an end: who died or stalled while it waited loses its place. A turn is
given up when the lease is taken, and not before, so that nobody gets in between.
"""

from __future__ import annotations

from stateward.errors import SessionBusy
from stateward.run.store.connection import Connection, persistent
from stateward.run.store.cursor import Cursor
from stateward.run.store.holder import new_holder
from stateward.run.store.lease import is_living

_DELETE = "DELETE FROM stateward_turns WHERE session = ? AND no = ?"


class Turns:
    """The turns of one database.

    Args:
        connection: The database.
        ttl_s: Seconds a turn lives when its holder does not look, more than 0.
    """

    def __init__(self, connection: Connection, *, ttl_s: float) -> None:
        self._connection = connection
        self._ttl_s = ttl_s
        self._holder = new_holder()

    @persistent
    def waiting(self, session: str) -> int:
        """Count the inputs that wait for a session.

        Args:
            session: The session's id.
        """
        with self._connection.read() as cur:
            cur.execute("SELECT holder, until FROM stateward_turns WHERE session = ?", (session,))
            rows = cur.fetchall()
        now = self._connection.now()
        return sum(is_living(holder, until=until, now=now) for holder, until in rows)

    @persistent
    def take(self, session: str, *, limit: int) -> int:
        """Take a place at the end of the queue.

        Args:
            session: The session's id.
            limit: How many may wait, at least 1.

        Returns:
            The number of the turn.

        Raises:
            SessionBusy: So many wait already.
        """
        with self._connection.transaction(session) as cur:
            self._forget_dead(cur, session)
            cur.execute("SELECT COUNT(*), COALESCE(MAX(no), 0) FROM stateward_turns WHERE session = ?", (session,))
            count, last = cur.fetchone()
            if count >= limit:
                raise SessionBusy(
                    f"Session `{session}` is at work, and {count} inputs wait for it already",
                    fix="Wait until one of them had its turn, or let more wait: `Session(…, queue=N)`.",
                    session=session,
                )
            no, until = int(last) + 1, self._connection.now() + self._ttl_s
            cur.execute(
                "INSERT INTO stateward_turns (session, no, holder, until) VALUES (?, ?, ?, ?)",
                (session, no, self._holder, until),
            )
        return no

    @persistent
    def is_next(self, session: str, *, no: int) -> bool:
        """Say whether a turn has come, as far as the queue is concerned; whoever waits looks often.

        Args:
            session: The session's id.
            no: The number of the turn.

        Returns:
            Whether nobody living is before it.
        """
        with self._connection.read() as cur:
            cur.execute(
                "SELECT no, holder, until FROM stateward_turns WHERE session = ? AND no <= ? ORDER BY no", (session, no)
            )
            rows = cur.fetchall()
        now = self._connection.now()
        if not rows or rows[-1][0] != no or rows[-1][2] - now < self._ttl_s / 2:
            self._renew(session, no)
        return not any(is_living(holder, until=until, now=now) for before, holder, until in rows if before < no)

    def _renew(self, session: str, no: int) -> None:
        until = self._connection.now() + self._ttl_s
        with self._connection.transaction(session) as cur:
            cur.execute(
                "INSERT INTO stateward_turns (session, no, holder, until) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (session, no) DO UPDATE SET until = excluded.until",
                (session, no, self._holder, until),
            )

    @persistent
    def leave(self, session: str, *, no: int) -> None:
        """Give a place up; one that was given up before is none.

        Args:
            session: The session's id.
            no: The number of the turn.
        """
        with self._connection.transaction(session) as cur:
            cur.execute(_DELETE, (session, no))

    def _forget_dead(self, cur: Cursor, session: str) -> None:
        now = self._connection.now()
        cur.execute("SELECT no, holder, until FROM stateward_turns WHERE session = ?", (session,))
        for no, holder, until in cur.fetchall():
            if not is_living(holder, until=until, now=now):
                cur.execute(_DELETE, (session, no))
