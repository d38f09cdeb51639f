"""One run per session: leases with fencing tokens, kept in the session's row.

A lease is living while its time has not run out and its holder is not known to be dead. Who takes over a
lease that is not living counts the fence up; the fence is checked in the transaction of every write, so a
holder that stalled and woke up cannot write.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from stateward.errors import CheckpointError, SessionBusy, StaleFence
from stateward.run.store.connection import Connection, persistent
from stateward.run.store.cursor import Cursor
from stateward.run.store.holder import is_dead, new_holder
from stateward.run.store.once import Once
from stateward.run.store.owner import refuse_stranger
from stateward.run.store.per_process import PerProcess

LEASE_TTL_S = 30.0
"""How long a lease lives without a heartbeat, in seconds."""
_AT_ONCE = 500
"""How many leases one statement renews."""
_TAKE = """
INSERT INTO stateward_sessions AS old
    (id, graph, tenant, created_at, updated_at, holder, fence, lease_until)
VALUES (?, ?, ?, ?, ?, ?, {one}, ?)
ON CONFLICT (id) DO UPDATE SET
    holder = excluded.holder, fence = old.fence + 1, lease_until = excluded.lease_until,
    graph = CASE WHEN old.graph = '' THEN excluded.graph ELSE old.graph END,
    tenant = CASE WHEN old.tenant = '' THEN excluded.tenant ELSE old.tenant END
WHERE old.holder IS NULL AND (excluded.tenant = '' OR old.tenant IN ('', excluded.tenant))
RETURNING fence, EXISTS (SELECT 1 FROM stateward_mailbox m WHERE m.session = ? AND m.status = 'posted')
"""
"""Takes a session that is new, or was given back by its holder. Whether a holder is dead no database can say."""
_FREE = "UPDATE stateward_sessions SET holder = NULL, lease_until = 0 WHERE id = ? AND holder = ? AND fence = ?"


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
    mail: bool = field(default=True, compare=False)
    """Whether a letter may have waited when it was taken; one that came later is looked for when it is given back."""


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


@dataclass(slots=True)
class _Here:
    """What one process holds."""

    holder: str = field(default_factory=new_holder)
    held: dict[str, Lease] = field(default_factory=dict[str, Lease])
    guard: threading.Lock = field(default_factory=threading.Lock)
    stop: threading.Event = field(default_factory=threading.Event)
    heart: threading.Thread | None = None


class Leases:
    """The leases of one database, with a heartbeat for those held by this process.

    Args:
        connection: The database.
        ttl_s: Seconds a lease lives without a heartbeat, more than 0.
        closing: Gets a session whose lease is about to be given back, to store what waits under it.
    """

    def __init__(
        self, connection: Connection, *, ttl_s: float = LEASE_TTL_S, closing: Callable[[str], None] | None = None
    ) -> None:
        self._connection = connection
        self._closing = closing or _nothing
        self._once = Once(connection)
        self._ttl_s = ttl_s
        self._here = PerProcess(_Here)

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
        here, now, lease = self._here.get(), self._connection.now(), None
        wanted = Lease(session=session, holder=here.holder, fence=0, until=now + self._ttl_s)
        try:
            if after is None:
                lease = self._taken(wanted, graph=graph, tenant=tenant, now=now)
            lease = lease or self._taken_over(wanted, graph=graph, tenant=tenant, after=after, now=now)
            with here.guard:
                here.held[session] = lease
                self._start_heart(here)
        except BaseException as error:
            if not isinstance(error, Exception):  # Ctrl-C, and it may be committed
                self._undo(wanted) if lease is None else self.release(lease)
            raise
        return lease

    def _taken(self, wanted: Lease, *, graph: str, tenant: str, now: float) -> Lease | None:
        """Take a session that nobody holds, in one statement; None when somebody may."""
        given = (wanted.session, graph, tenant, now, now, wanted.holder, wanted.until, wanted.session)
        row = self._once.row(wanted.session, _TAKE, given)
        return None if row is None else replace(wanted, fence=int(row[0]), mail=bool(row[1]))

    def _taken_over(self, wanted: Lease, *, graph: str, tenant: str, after: int | None, now: float) -> Lease:
        """Look who holds a session, and take it."""
        session = wanted.session
        with self._connection.transaction(session) as cur:
            fence = self._claim(cur, session, tenant=tenant, now=now)
            if after is not None and fence != after + 1:
                raise SessionBusy(
                    f"Session `{session}` went on in another process since it was looked at",
                    fix="Look again at where it stands, then decide what to send.",
                    session=session,
                )
            lease = replace(wanted, fence=fence)
            _write(cur, lease, graph=graph, tenant=tenant, now=now)
        return lease

    def _undo(self, wanted: Lease) -> None:
        """Give back a lease whose fence was not told; by its end it is told from any other one of this process."""
        with self._connection.transaction(wanted.session) as cur:
            statement = _FREE.replace("fence = ?", "lease_until = ?")
            cur.execute(statement, (wanted.session, wanted.holder, wanted.until))

    @persistent
    def release(self, lease: Lease) -> None:
        """Give a lease back; one that was taken over is left alone.

        Args:
            lease: A lease from `acquire`.
        """
        self._let_go(lease)
        self._closing(lease.session)
        # One statement, which is a transaction of its own. It waits for no lock of the session: who is inside a
        # transaction goes on under its fence, and who takes the session next waits for that.
        with self._connection.read() as cur:
            _free(cur, lease)

    @persistent
    def withdraw(self, lease: Lease) -> None:
        """Give back a lease under which nothing was done: a session that was created for it is not there any more.

        Args:
            lease: A lease from `acquire`.
        """
        self._let_go(lease)
        self._closing(lease.session)
        with self._connection.transaction(lease.session) as cur:
            # Only under the first fence: a later one is counted on, or who had an earlier one could write again.
            cur.execute(
                "DELETE FROM stateward_sessions WHERE id = ? AND holder = ? AND fence = ? AND fence = 1 AND run = ''"
                " AND NOT EXISTS (SELECT 1 FROM stateward_mailbox WHERE session = ?)",
                (lease.session, lease.holder, lease.fence, lease.session),
            )
            if not cur.rowcount:
                _free(cur, lease)

    def _let_go(self, lease: Lease) -> None:
        here = self._here.get()
        with here.guard:
            current = here.held.get(lease.session)
            if current is not None and current.fence == lease.fence:
                del here.held[lease.session]

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

    def close(self, *, but: Collection[str] = ()) -> None:
        """Release what is held and stop the heartbeat.

        Args:
            but: Sessions whose code still runs here: their leases run out, or end with this process.
        """
        here = self._here.get()
        here.stop.set()
        with here.guard:
            heart, leases = here.heart, tuple(here.held.values())
        if heart is not None:
            heart.join()
        for lease in leases:
            if lease.session not in but:
                self.release(lease)

    def _claim(self, cur: Cursor, session: str, *, tenant: str, now: float) -> int:
        cur.execute("SELECT holder, fence, lease_until, tenant FROM stateward_sessions WHERE id = ?", (session,))
        row = cur.fetchone()
        if row is None:
            return 1
        refuse_stranger(session, owner=row[3], tenant=tenant, where=self._connection.label)
        if self._connection.repeated and (row[0], row[2]) == (self._here.get().holder, now + self._ttl_s):
            return int(row[1])  # the first try took it, and its answer was lost
        if _living(row, now=now):
            raise _busy(session, holder=row[0], until=row[2], now=now)
        return int(row[1]) + 1

    def keep(self) -> bool:
        """Put off the end of all leases of this process, without a wait for whoever is at work on a session.

        Returns:
            Whether all were put off, or are held no longer; somebody may have locked a session's row.

        Raises:
            CheckpointError: The database is locked, full or away.
        """
        here, until = self._here.get(), self._connection.clock.now() + self._ttl_s
        with here.guard:
            leases = tuple(here.held.values())
        groups = [leases[at : at + _AT_ONCE] for at in range(0, len(leases), _AT_ONCE)]
        found = {lease.session: lease for group in groups for lease in self._renewed(group, here.holder)}
        with here.guard:
            ours = [lease for lease in leases if here.held.get(lease.session) == lease]
            for lease in ours:
                renewed = found.get(lease.session)
                if renewed is None or renewed.fence != lease.fence:
                    del here.held[lease.session]  # taken over: the fence stops the run
                else:
                    here.held[lease.session] = renewed
            return all(here.held[lease.session].until >= until for lease in ours if lease.session in here.held)

    @persistent
    def _renewed(self, leases: Sequence[Lease], holder: str) -> Sequence[Lease]:
        """Renew leases whose rows are free, and return all that are still the holder's."""
        connection, until = self._connection, self._connection.clock.now() + self._ttl_s
        sessions = [lease.session for lease in leases]
        named = f"holder = ? AND id IN ({', '.join('?' * len(sessions))})"
        with connection.beside() as cur:
            cur.execute(
                "UPDATE stateward_sessions SET lease_until = ? WHERE id IN"
                f" (SELECT id FROM stateward_sessions WHERE {named}{connection.if_free})",
                (until, holder, *sessions),
            )
            cur.execute(f"SELECT id, fence, lease_until FROM stateward_sessions WHERE {named}", (holder, *sessions))
            return [Lease(session=row[0], holder=holder, fence=row[1], until=row[2]) for row in cur.fetchall()]

    def _start_heart(self, here: _Here) -> None:
        if here.heart is None:
            here.heart = threading.Thread(target=self._beat, args=(here,), name="stateward-heartbeat", daemon=True)
            here.heart.start()

    def _beat(self, here: _Here) -> None:
        pause = self._ttl_s / 3
        try:
            while not here.stop.wait(pause):
                with here.guard:
                    if not here.held:
                        here.heart = None
                        return
                pause = self._ttl_s / (3 if self._kept() else 30)
        except BaseException:
            with here.guard:
                here.heart = None  # the next lease begins another
            raise

    def _kept(self) -> bool:
        try:
            return self.keep()
        except CheckpointError:
            # A locked or full database may recover before the leases end; if not, the fence stops the runs.
            return False


def _nothing(_session: str) -> None:
    """Nothing waits."""


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


def _free(cur: Cursor, lease: Lease) -> None:
    cur.execute(_FREE, (lease.session, lease.holder, lease.fence))
