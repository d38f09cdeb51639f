"""The journal: one entry for every governed call, so that a completed effect is never run again.

An entry goes from `started` to `completed`, `failed` or `unknown`. `unknown` may still become `completed` or
`failed` when a look-up or a person knows; the other two are closed for good. Beginning and settling move the
ledger in the same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from stateward.errors import CheckpointError, GovernanceError
from stateward.run.store.audit_log import AuditLog
from stateward.run.store.blobs import Blobs
from stateward.run.store.charges import Judge, Reservation, Tripped, added, fitting
from stateward.run.store.closing import Closed, Ending, closed, opened
from stateward.run.store.connection import Connection, persistent
from stateward.run.store.cursor import Cursor
from stateward.run.store.entry import (
    CLOSE,
    COLUMNS,
    EXTEND,
    UNCHANGED,
    CallKey,
    Entry,
    audit_record,
    begun,
    closing_values,
    extending_values,
    from_row,
    opening_values,
    unchanged_values,
)
from stateward.run.store.json_text import write_json
from stateward.run.store.lease import check_fence
from stateward.run.store.ledger import Ledger
from stateward.run.store.standing import read as standing_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """The call was journalled and may be made now."""

    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The journal has this call already; nothing was written."""

    entry: Entry


_SELECT = f"SELECT {COLUMNS} FROM stateward_journal "
_KEY = "WHERE session = ? AND run = ? AND branch = ? AND path = ? AND activation = ? AND call = ?"
_INSERT = f"INSERT INTO stateward_journal ({COLUMNS}) VALUES ({', '.join('?' * 22)}) ON CONFLICT DO NOTHING"


class Journal:
    """The journal of one database.

    Args:
        connection: The database.
        ledger: Where reservations are made and settled.
        audit: Where every settled call is recorded.
        blobs: Where large results are.
    """

    def __init__(self, connection: Connection, *, ledger: Ledger, audit: AuditLog, blobs: Blobs) -> None:
        self._connection = connection
        self.blobs = blobs
        """Where large results are."""
        self._ledger = ledger
        self._audit = audit

    @persistent
    def get(self, key: CallKey) -> Entry | None:
        """Read one entry.

        Args:
            key: The call.

        Returns:
            Its entry; None when it was never begun.
        """
        with self._connection.read() as cur:
            return self._find(cur, key)

    @persistent
    def begin(
        self, entry: Entry, reservations: Sequence[Reservation] = (), *, fence: int | None = None
    ) -> Begun | Known | Tripped:
        """Journal a call before it is made, and reserve what it may spend, in one transaction.

        Args:
            entry: The call; its key, kind, name, fingerprint, arguments and effect are used.
            reservations: The upper bounds in every scope that counts it.
            fence: The writer's fencing token; None when the session is not leased.

        Returns:
            `Begun` when the call may be made, `Known` when the journal has it, `Tripped` when a limit stands
            in the way; in the last two cases nothing was written.

        Raises:
            StaleFence: The session was taken over.
            SessionBusy: The writer has no token, and someone holds the session.
            GovernanceError: An amount or limit is no finite number from 0.
            CodecError: The arguments are no JSON.
        """
        found = self.admit(entry, lambda _: reservations, fence=fence)
        assert found is not None  # it was judged before
        return found

    @persistent
    def admit(
        self, entry: Entry, judge: Judge, *, arguments: Mapping[str, Any] | None = None, fence: int | None = None
    ) -> Begun | Known | Tripped | None:
        """Judge a call by how its run stands, and begin it, in one transaction: nothing changes in between.

        Args:
            entry: The call, as for `begin`.
            judge: Judges it. It must be quick and ask nobody, since others wait.
            arguments: What is kept of its arguments; None for those that the entry has.
            fence: The writer's fencing token; None when the session is not leased.

        Returns:
            What `begin` returns; None when it was judged that it may not be made, and nothing was written.

        Raises:
            StaleFence: The session was taken over.
            SessionBusy: The writer has no token, and someone holds the session.
            GovernanceError: An amount or limit is no finite number from 0.
            CodecError: The arguments are no JSON.
        """
        key = entry.key
        with self._connection.transaction(key.session) as cur:
            now = self._connection.now()
            check_fence(cur, session=key.session, fence=fence, now=now)
            if self._connection.repeated and (known := self._known(cur, key, now=now)) is not None:
                return known  # before it is judged: what the first try reserved would count twice
            standing = standing_of(cur, session=key.session, run=key.run, revoked=True)
            reservations = judge(standing)
            if reservations is None:
                return None
            charges = fitting(reservations, standing=standing)
            if isinstance(charges, Tripped):
                return self._known(cur, key, now=now) or charges  # what was begun is known, whatever the limits say
            opening = begun(entry, charges=charges, now=now, arguments=arguments)
            cur.execute(_INSERT, opening_values(opening, cipher=self._connection.cipher))
            if not cur.rowcount:
                return self._known(cur, key, now=now)  # it is what the row is in conflict with
            self._ledger.hold(cur, session=key.session, run=key.run, charges=charges)
        return Begun(entry=opening)

    def _known(self, cur: Cursor, key: CallKey, *, now: float) -> Begun | Known | None:
        """Find a call that the journal has; one that a first try began, and whose answer was lost, is ours."""
        known = self._find(cur, key)
        if known is None:
            return None
        ours = self._connection.repeated and (known.status, known.started_at) == ("started", now)
        return Begun(entry=known) if ours else Known(entry=known)

    @persistent
    def settle(
        self,
        key: CallKey,
        *,
        status: Closed,
        result: Any = None,  # JSON, as the tool gave it
        error: Any = None,  # JSON
        spent: Mapping[str, float] | None = None,
        tokens_in: int = 0,
        tokens_out: int = 0,
        fence: int | None = None,
        before: Entry | None = None,
    ) -> Entry:
        """Close an entry and put what was spent in the place of its reservations, in one transaction.

        Args:
            key: The call.
            status: How it ended.
            result: What it returned.
            error: Why it failed.
            spent: What it spent, by unit; a unit that is absent is charged as reserved.
            tokens_in: Tokens read by a model, from 0.
            tokens_out: Tokens written by a model, from 0.
            fence: The writer's fencing token; None when the session is not leased.
            before: The entry as it was begun, which spares a look at it while it is still the same.

        Returns:
            The closed entry.

        Raises:
            StaleFence: The session was taken over.
            SessionBusy: The writer has no token, and someone holds the session.
            CheckpointError: The call was never begun, or is completed or failed already.
            GovernanceError: An amount is no finite number from 0.
            CodecError: Result or error is no JSON.
        """
        ending = Ending(status, result, error, spent or {}, tokens_in, tokens_out)
        with self._connection.transaction(key.session) as cur:
            now = self._connection.now()
            check_fence(cur, session=key.session, fence=fence, now=now)
            if before is not None and before.status == "started":
                entry = self._close(cur, before, ending, now=now, as_it_was=True)
                if entry is not None:
                    return entry
            known = self._find(cur, key)
            if self._connection.repeated and known is not None and (known.status, known.ended_at) == (status, now):
                return known  # the first try closed it, and its answer was lost
            entry = self._close(cur, opened(known, key), ending, now=now)
            assert entry is not None  # it was there, in this transaction
        return entry

    def _close(
        self, cur: Cursor, before: Entry, ending: Ending, *, now: float, as_it_was: bool = False
    ) -> Entry | None:
        """Close an entry, charge what it spent and record it; None when it is no longer as it was, and nothing is."""
        key, cipher = before.key, self._connection.cipher
        entry = closed(before, ending, now=now)
        text = None if ending.result is None else write_json(ending.result, where=key)
        held = self.blobs.kept(cur, key.session, ending.result, where=key, text=text)
        if held is not ending.result:
            text = write_json(held, where=key)
        # The row itself says that what is taken out of the ledger here is what it has reserved, and nobody has before.
        where, same = (UNCHANGED, unchanged_values(before)) if as_it_was else ("", ())
        cur.execute(CLOSE + _KEY + where, (*closing_values(entry, cipher=cipher, text=text), *key.values, *same))
        if not cur.rowcount:
            return None
        self._ledger.replace(
            cur,
            session=key.session,
            run=key.run,
            old=before.charges,
            new=entry.charges,
            reserved=before.status == "started",
        )
        self._audit.add(cur, audit_record(entry))
        return entry

    @persistent
    def extend(
        self, key: CallKey, *, progress: Any, reservations: Sequence[Reservation] = (), fence: int | None = None
    ) -> Entry | Tripped:
        """Reserve more for a call that goes on, and write down how far it is, in one transaction.

        Args:
            key: The call.
            progress: JSON; it stands in the place of the result until there is one.
            reservations: The further upper bounds, in every scope that counts them.
            fence: The writer's fencing token; None when the session is not leased.

        Returns:
            The entry, still started; `Tripped` when a limit stands in the way, and nothing was written.

        Raises:
            StaleFence: The session was taken over.
            SessionBusy: The writer has no token, and someone holds the session.
            CheckpointError: The call was never begun, is unknown and was not begun again, or is completed or failed.
            GovernanceError: An amount or limit is no finite number from 0.
            CodecError: The progress is no JSON.
        """
        with self._connection.transaction(key.session) as cur:
            check_fence(cur, session=key.session, fence=fence, now=self._connection.now())
            before = opened(self._find(cur, key), key)
            if before.status != "started":
                raise CheckpointError(
                    f"`{before.name}` is {before.status}, and only a call that was begun can go on",
                    where=key.place,
                    fix="Begin it again first (`restart`).",
                )
            if self._connection.repeated and before.result == progress:
                return before  # the first try wrote it, and its answer was lost
            more = self._ledger.reserve(cur, session=key.session, run=key.run, reservations=reservations)
            if isinstance(more, Tripped):
                return more
            entry = replace(before, result=progress, charges=added(before.charges, more=more))
            cur.execute(EXTEND + _KEY, (*extending_values(entry, cipher=self._connection.cipher), *key.values))
        return entry

    @persistent
    def mark_unknown(self, key: CallKey, *, fence: int | None = None) -> Entry:
        """Record that nobody knows whether a started call was done; what it had reserved counts as spent.

        Args:
            key: The call.
            fence: The writer's fencing token; None when the session is not leased.

        Returns:
            The entry; one that is unknown already is left as it is.

        Raises:
            StaleFence: The session was taken over.
            SessionBusy: The writer has no token, and someone holds the session.
            CheckpointError: The call was never begun, or is completed or failed already.
        """
        with self._connection.transaction(key.session) as cur:
            entry = opened(self._find(cur, key), key)
            return entry if entry.status == "unknown" else self.settle(key, status="unknown", fence=fence)

    @persistent
    def restart(self, key: CallKey, *, fence: int | None = None, confirmed_safe: bool = False) -> Entry:
        """Take up a call that was started and not finished, under the same key and reservations.

        Args:
            key: The call.
            fence: The writer's fencing token; None when the session is not leased.
            confirmed_safe: Whether a look-up or a person said that the effect did not happen; needed for
                `once`.

        Returns:
            The entry, with one more try.

        Raises:
            StaleFence: The session was taken over.
            SessionBusy: The writer has no token, and someone holds the session.
            CheckpointError: The call was never begun, or is completed or failed already.
            GovernanceError: The effect may happen only once, and nobody said that it did not.
        """
        with self._connection.transaction(key.session) as cur:
            now = self._connection.now()
            check_fence(cur, session=key.session, fence=fence, now=now)
            before = opened(self._find(cur, key), key)
            if self._connection.repeated and (before.status, before.started_at) == ("started", now):
                return before  # the first try took it up, and its answer was lost
            if before.effect == "once" and not confirmed_safe:
                raise GovernanceError(
                    f"`{before.name}` may run only once, and it is not known whether it did",
                    where=key.place,
                    fix="Ask its look-up or a person, and restart it when the effect did not happen.",
                )
            if before.status == "unknown":
                self._ledger.reopen(cur, session=key.session, run=key.run, charges=before.charges)
            entry = replace(before, status="started", tries=before.tries + 1, started_at=now, ended_at=None)
            cur.execute(
                "UPDATE stateward_journal SET status = 'started', tries = ?, started_at = ?, ended_at = NULL " + _KEY,
                (entry.tries, now, *key.values),
            )
        return entry

    def entries(self, session: str, run: str | None = None) -> tuple[Entry, ...]:
        """Read the calls of a session in the order in which they were begun.

        Args:
            session: The session's id.
            run: Only those of this run; None for all.

        Returns:
            The entries.
        """
        where, values = ("", ()) if run is None else (" AND run = ?", (run,))
        return self._select(f"WHERE session = ?{where}", (session, *values))

    def unfinished(self, session: str) -> tuple[Entry, ...]:
        """Read the calls of a session that were started, or whose effect is unknown.

        Args:
            session: The session's id.

        Returns:
            The entries that are neither completed nor failed.
        """
        return self._select("WHERE session = ? AND status IN ('started', 'unknown')", (session,))

    @persistent
    def begun_since(self, session: str, since: float) -> tuple[tuple[Literal["tool", "model"], str, float], ...]:
        """Read when the calls of tools and models of a session were begun; one that several branches have counts once.

        Args:
            session: The session's id.
            since: Only calls after this time, in seconds since the epoch.

        Returns:
            Kind, state path and time of each.
        """
        with self._connection.read() as cur:
            cur.execute(
                "SELECT DISTINCT kind, path, started_at, run, activation, call FROM stateward_journal"
                " WHERE session = ? AND started_at > ? AND kind <> 'ask'",
                (session, since),
            )
            return tuple((row[0], row[1], row[2]) for row in cur.fetchall())

    @persistent
    def _select(self, where: str, values: tuple[object, ...]) -> tuple[Entry, ...]:
        with self._connection.read() as cur:
            cur.execute(f"{_SELECT}{where} ORDER BY rowid", values)
            return tuple(self._whole(cur, row) for row in cur.fetchall())

    def _find(self, cur: Cursor, key: CallKey) -> Entry | None:
        row = cur.execute(_SELECT + _KEY, key.values).fetchone()
        return None if row is None else self._whole(cur, row)

    def _whole(self, cur: Cursor, row: tuple[Any, ...]) -> Entry:
        entry = from_row(row, cipher=self._connection.cipher)
        whole = self.blobs.whole(cur, entry.key.session, entry.result)
        return entry if whole is entry.result else replace(entry, result=whole)
