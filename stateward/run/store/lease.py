"""One run per session: leases with fencing tokens, kept in the session's row.

A lease is living while its time has not run out and its holder is not known to be dead. Who takes over a
lease that is not living counts the fence up; the fence is checked in the transaction of every write, so a
holder that stalled and woke up cannot write.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from stateward.errors import CheckpointError, SessionBusy, StaleFence
from stateward.run.store.connection import Connection, persistent
from stateward.run.store.cursor import Cursor
from stateward.run.store.holder import is_dead, new_holder
from stateward.run.store.owner import refuse_stranger

LEASE_TTL_S = 30.0
"""How long a lease lives without a heartbeat, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to write to a session."""

    session: str
    holder: str
    """Boot id, pid namespace, pid, start time and nonce of who holds it."""
    fence: int
    """Counts up with each new holder; the number every write must name."""
    until: float
    """When it ends without a heartbeat, in seconds since the epoch."""


def check_fence(cur: Cursor, *, session: str, fence: int | None, now: float) -> None:
    """Refuse a write that is not the lease holder's; call it in the transaction of the write.

    Args:
        cur: A cursor in the transaction.
        session: The session to be written.
        fence: The writer's fencing token; None when it has no lease.
        now: The time, in seconds since the epoch.

    Raises:
        StaleFence: The lease was taken over since the writer got its token.
        SessionBusy: The writer has no token, and someone holds a living lease.
    """
    cur.execute("SELECT holder, fence, lease_until FROM stateward_sessions WHERE id = ?", (session,))
    row = cur.fetchone()
    if row is None or fence == row[1]:
        return
    if fence is not None:
        raise StaleFence(
            f"The writer's fence is {fence}, the session's is {row[1]}: another process took over",
            where=f"session `{session}`",
            fix="Stop this run; the new holder goes on from the last checkpoint.",
            session=session,
            fence=fence,
            current=row[1],
        )
    if _living(row, now=now):
        raise _busy(session, holder=row[0], until=row[2], now=now)


class Leases:
    """The leases of one database, with a heartbeat for those held by this process.

    Args:
        connection: The database.
        ttl_s: Seconds a lease lives without a heartbeat, more than 0.
    """

    def __init__(self, connection: Connection, *, ttl_s: float = LEASE_TTL_S) -> None:
        self._connection = connection
        self._ttl_s = ttl_s
        self._holder = new_holder()
        self._held: dict[str, Lease] = {}
        self._guard = threading.Lock()
        self._stop = threading.Event()
        self._heart: threading.Thread | None = None

    @persistent
    def acquire(self, session: str, *, graph: str = "", tenant: str = "", after: int | None = None) -> Lease:
        """Take the lease of a session, which is created when it is new.

        Args:
            session: The session's id.
            graph: The graph's name; kept for a session that has none yet.
            tenant: The owner; empty means that the caller does not ask.
            after: The fence the caller saw, 0 for a session that was not there; None means that it did not look.

        Returns:
            The lease, renewed by a heartbeat until it is released.

        Raises:
            SessionBusy: Someone holds a living lease, perhaps another thread of this process, or held one since
                the caller looked.
            UnknownSession: The session belongs to another tenant.
        """
        now = self._connection.now()
        with self._connection.transaction(session) as cur:
            fence = self._claim(cur, session, tenant=tenant, now=now)
            if after is not None and fence != after + 1:
                raise SessionBusy(
                    f"Session `{session}` went on in another process since it was looked at",
                    fix="Look again at where it stands, then decide what to send.",
                    session=session,
                )
            lease = Lease(session=session, holder=self._holder, fence=fence, until=now + self._ttl_s)
            _write(cur, lease, graph=graph, tenant=tenant, now=now)
        with self._guard:
            self._held[session] = lease
            self._start_heart()
        return lease

    @persistent
    def renew(self, lease: Lease) -> Lease:
        """Put off the end of a lease by its time to live.

        Args:
            lease: A lease of this process.

        Returns:
            The lease with its new end.

        Raises:
            StaleFence: It was released or taken over.
        """
        until = self._connection.now() + self._ttl_s
        with self._connection.transaction(lease.session) as cur:
            cur.execute(
                "UPDATE stateward_sessions SET lease_until = ? WHERE id = ? AND holder = ? AND fence = ?",
                (until, lease.session, lease.holder, lease.fence),
            )
            if cur.rowcount == 0:
                raise StaleFence(
                    f"The lease with fence {lease.fence} is no longer held",
                    where=f"session `{lease.session}`",
                    fix="Stop this run; acquire the session again to go on.",
                )
        return Lease(session=lease.session, holder=lease.holder, fence=lease.fence, until=until)

    @persistent
    def release(self, lease: Lease) -> None:
        """Give a lease back; one that was taken over is left alone.

        Args:
            lease: A lease from `acquire`.
        """
        with self._guard:
            current = self._held.get(lease.session)
            if current is not None and current.fence == lease.fence:
                del self._held[lease.session]
        with self._connection.transaction(lease.session) as cur:
            cur.execute(
                "UPDATE stateward_sessions SET holder = NULL, lease_until = 0"
                " WHERE id = ? AND holder = ? AND fence = ?",
                (lease.session, lease.holder, lease.fence),
            )

    @persistent
    def held(self, session: str) -> Lease | None:
        """Return the living lease of a session, whoever holds it.

        Args:
            session: The session's id.

        Returns:
            The lease; None when nobody holds it, or its holder is dead or late.
        """
        with self._connection.read() as cur:
            cur.execute("SELECT holder, fence, lease_until FROM stateward_sessions WHERE id = ?", (session,))
            row = cur.fetchone()
        if row is None or not _living(row, now=self._connection.clock.now()):
            return None
        return Lease(session=session, holder=row[0], fence=row[1], until=row[2])

    def close(self) -> None:
        """Release what is held and stop the heartbeat."""
        self._stop.set()
        with self._guard:
            heart, leases = self._heart, tuple(self._held.values())
        if heart is not None:
            heart.join()
        for lease in leases:
            self.release(lease)

    def _claim(self, cur: Cursor, session: str, *, tenant: str, now: float) -> int:
        cur.execute("SELECT holder, fence, lease_until, tenant FROM stateward_sessions WHERE id = ?", (session,))
        row = cur.fetchone()
        if row is None:
            return 1
        refuse_stranger(session, owner=row[3], tenant=tenant, where=self._connection.label)
        if self._connection.repeated and (row[0], row[2]) == (self._holder, now + self._ttl_s):
            return int(row[1])  # the first try took it, and its answer was lost
        if _living(row, now=now):
            raise _busy(session, holder=row[0], until=row[2], now=now)
        return int(row[1]) + 1

    def _start_heart(self) -> None:
        if self._heart is None:
            self._heart = threading.Thread(target=self._beat, name="stateward-heartbeat", daemon=True)
            self._heart.start()

    def _beat(self) -> None:
        while not self._stop.wait(self._ttl_s / 3):
            with self._guard:
                leases = tuple(self._held.values())
                if not leases:
                    self._heart = None
                    return
            for lease in leases:
                self._keep(lease)

    def _keep(self, lease: Lease) -> None:
        try:
            renewed = self.renew(lease)
        except StaleFence:
            self._forget(lease)
        except CheckpointError:
            # A locked or full database may recover before the lease ends; if not, the fence stops the run.
            return
        else:
            with self._guard:
                if self._held.get(lease.session) == lease:
                    self._held[lease.session] = renewed

    def _forget(self, lease: Lease) -> None:
        with self._guard:
            if self._held.get(lease.session) == lease:
                del self._held[lease.session]


def _living(row: tuple[str | None, int, float], *, now: float) -> bool:
    return row[0] is not None and row[2] > now and not is_dead(row[0])


def is_living(holder: str | None, *, until: float, now: float) -> bool:
    """Say whether a lease is living.

    Args:
        holder: Who holds it; None when nobody does.
        until: When it ends, in seconds since the epoch.
        now: The time, in seconds since the epoch.

    Returns:
        True when it has a holder that is not known to be dead, and time left.
    """
    return _living((holder, 0, until), now=now)


def _busy(session: str, *, holder: str, until: float, now: float) -> SessionBusy:
    pid = holder.split(":")[2] if holder.count(":") == 4 else holder
    return SessionBusy(
        f"Session `{session}` is held by process `{pid}` for another {max(until - now, 0):.0f} s at least",
        fix="Wait until its run ends or stops, or end that process; then try again.",
        session=session,
        holder=holder,
        until=until,
    )


def _write(cur: Cursor, lease: Lease, *, graph: str, tenant: str, now: float) -> None:
    cur.execute(
        """
        INSERT INTO stateward_sessions AS old
            (id, graph, tenant, created_at, updated_at, holder, fence, lease_until)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET
            holder = excluded.holder, fence = excluded.fence, lease_until = excluded.lease_until,
            graph = CASE WHEN old.graph = '' THEN excluded.graph ELSE old.graph END,
            tenant = CASE WHEN old.tenant = '' THEN excluded.tenant ELSE old.tenant END
        """,
        (lease.session, graph, tenant, now, now, lease.holder, lease.fence, lease.until),
    )
