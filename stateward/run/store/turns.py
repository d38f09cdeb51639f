"""Turns: inputs that wait for a session which somebody runs, in the order in which they came.

Each has a number and, like a lease, a holder and an end: who died or stalled while it waited loses its place. A turn is
given up when the lease is taken, and not before, so that nobody gets in between.
"""

from __future__ import annotations

from dataclasses import dataclass

from stateward.errors import SessionBusy
from stateward.run.store.connection import Connection, persistent
from stateward.run.store.cursor import Cursor
from stateward.run.store.holder import new_holder
from stateward.run.store.lease import is_living

_DELETE = "DELETE FROM stateward_turns WHERE session = ? AND no = ? AND holder = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place in the queue of a session."""

    session: str
    no: int
    holder: str
    """Tells it from every other one: the number is given again when it was the last."""


class Turns:
    """The turns of one database.

    Args:
        connection: The database.
        ttl_s: Seconds a turn lives when its holder does not look, more than 0.
    """

    def __init__(self, connection: Connection, *, ttl_s: float) -> None:
        self._connection = connection
        self._ttl_s = ttl_s

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

    def take(self, session: str, *, limit: int) -> Place:
        """Take a place at the end of the queue.

        Args:
            session: The session's id.
            limit: How many may wait, at least 1.

        Returns:
            The place.

        Raises:
            SessionBusy: So many wait already.
        """
        return self._take(session, limit, new_holder())

    @persistent
    def _take(self, session: str, limit: int, holder: str) -> Place:
        with self._connection.transaction(session) as cur:
            self._forget_dead(cur, session)
            cur.execute("SELECT no, holder FROM stateward_turns WHERE session = ? ORDER BY no", (session,))
            rows = cur.fetchall()
            ours = next((no for no, by in rows if by == holder), None)
            if ours is not None:  # the first try took it, and its answer was lost
                return Place(session=session, no=ours, holder=holder)
            if len(rows) >= limit:
                raise SessionBusy(
                    f"Session `{session}` is at work, and {len(rows)} inputs wait for it already",
                    fix="Wait until one of them had its turn, or let more wait: `Session(…, queue=N)`.",
                    session=session,
                )
            place = Place(session=session, no=rows[-1][0] + 1 if rows else 1, holder=holder)
            self._write(cur, place)
        return place

    @persistent
    def is_next(self, place: Place) -> bool:
        """Say whether a turn has come, as far as the queue is concerned; whoever waits looks often.

        Args:
            place: Where the caller stands.

        Returns:
            Whether nobody living is before it.

        Raises:
            SessionBusy: The place was lost to another input: nobody has looked for so long.
        """
        with self._connection.read() as cur:
            cur.execute(
                "SELECT no, holder, until FROM stateward_turns WHERE session = ? AND no <= ? ORDER BY no",
                (place.session, place.no),
            )
            rows = cur.fetchall()
        now = self._connection.now()
        if not rows or rows[-1][:2] != (place.no, place.holder) or rows[-1][2] - now < self._ttl_s / 2:
            self._renew(place)
        return not any(is_living(holder, until=until, now=now) for no, holder, until in rows if no < place.no)

    def _renew(self, place: Place) -> None:
        with self._connection.transaction(place.session) as cur:
            if not self._write(cur, place):
                raise SessionBusy(
                    f"Session `{place.session}` is at work, and the place of this input in its queue was lost",
                    fix="Send it again. A place is kept by who looks for its turn at least every "
                    f"{self._ttl_s:.0f} s; this process stood still for longer.",
                    session=place.session,
                )

    @persistent
    def leave(self, place: Place) -> None:
        """Give a place up; one that was given up before is none.

        Args:
            place: The place.
        """
        with self._connection.transaction(place.session) as cur:
            cur.execute(_DELETE, (place.session, place.no, place.holder))

    def _write(self, cur: Cursor, place: Place) -> bool:
        """Write a place, unless another has its number."""
        cur.execute(
            "INSERT INTO stateward_turns AS old (session, no, holder, until) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (session, no) DO UPDATE SET until = excluded.until WHERE old.holder = excluded.holder",
            (place.session, place.no, place.holder, self._connection.now() + self._ttl_s),
        )
        return cur.rowcount > 0

    def _forget_dead(self, cur: Cursor, session: str) -> None:
        now = self._connection.now()
        cur.execute("SELECT no, holder, until FROM stateward_turns WHERE session = ?", (session,))
        for no, holder, until in cur.fetchall():
            if not is_living(holder, until=until, now=now):
                cur.execute(_DELETE, (session, no, holder))
