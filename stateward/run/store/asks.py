"""Asks: questions to people, each answered by as many as it needs and no more, whatever the number of processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stateward.errors import CheckpointError, UnknownAsk
from stateward.run.store.ask import (
    COLUMNS,
    Ask,
    AskStatus,
    Decision,
    from_row,
    row_values,
    sealed_answers,
    sealed_note,
)
from stateward.run.store.ask_audit import about, told
from stateward.run.store.audit_log import AuditLog
from stateward.run.store.connection import Connection, persistent
from stateward.run.store.cursor import Cursor
from stateward.run.store.entry import CallKey
from stateward.run.store.given import Given
from stateward.run.store.lease import check_fence
from stateward.run.store.taken import taken

_SELECT = f"SELECT {COLUMNS} FROM stateward_asks "
_ROW = f"INTO stateward_asks ({COLUMNS}) VALUES ({', '.join('?' * 23)})"
_INSERT = f"INSERT {_ROW} ON CONFLICT (id) DO NOTHING"
_SUPERSEDED = (
    "SELECT id FROM stateward_asks WHERE session = ? AND run = ? AND branch = ? AND path = ?"
    " AND activation = ? AND call = ? AND kind = ? AND status = 'open' AND id <> ?"
)
_REOPEN = f"UPDATE stateward_asks SET {', '.join(f'{name} = ?' for name in COLUMNS.split(', '))} WHERE id = ?"


class Asks:
    """The asks of one database.

    Args:
        connection: The database.
        audit: Where answers are recorded.
    """

    def __init__(self, connection: Connection, *, audit: AuditLog) -> None:
        self._connection = connection
        self._audit = audit

    @persistent
    def create(self, asks: Sequence[Ask], *, fence: int | None = None) -> tuple[Ask, ...]:
        """Store asks; one that is there already is left as it is while it is open, and for good once it is answered.

        One that was withdrawn is opened again, as it is put now: the run has come back to the question, as it does
        after a crash between the withdrawal and the commit, and would otherwise wait for ever. One that has expired
        stays so: nobody may answer late. One about the same call with other arguments is taken back.

        Args:
            asks: The asks; `created_at` is set when it is 0.
            fence: The writer's fencing token; None when the session is not leased.

        Returns:
            The asks as stored, in the order given, perhaps answered already.

        Raises:
            StaleFence: The session was taken over.
            SessionBusy: The writer has no token, and someone holds the session.
            CheckpointError: Another call has an ask of the same id.
            CodecError: The arguments are no JSON.
        """
        sessions = sorted({ask.session for ask in asks})
        with self._connection.transaction(sessions[0] if len(sessions) == 1 else "") as cur:
            now = self._connection.now()
            for session in sessions:
                check_fence(cur, session=session, fence=fence, now=now)
            return tuple(self._store(cur, ask, now=now) for ask in asks)

    @persistent
    def find(self, ask: str) -> Ask | None:
        """Look for one ask.

        Args:
            ask: The ask's id.

        Returns:
            The ask, an open one whose time has run out as expired; None when no ask has this id.
        """
        with self._connection.read() as cur:
            found = self._find(cur, ask)
        return None if found is None else _aged(found, now=self._connection.clock.now())

    def get(self, ask: str) -> Ask:
        """Read one ask.

        Args:
            ask: The ask's id.

        Returns:
            The ask; an open one whose time has run out reads as expired.

        Raises:
            UnknownAsk: No ask has this id.
        """
        found = self.find(ask)
        if found is None:
            raise self.unknown(ask)
        return found

    @persistent
    def load(self, session: str, ids: Sequence[str], *, fence: int | None = None) -> tuple[Ask, ...]:
        """Read asks on which a run is about to act: those whose time has run out are closed for good.

        So none is answered afterwards by somebody whose clock is late.

        Args:
            session: The session they belong to.
            ids: The asks' ids.
            fence: The run's fencing token; None when it has none.

        Returns:
            The asks, in the order given.

        Raises:
            UnknownAsk: No ask has one of the ids.
            StaleFence: The session was taken over.
        """
        asks = tuple(self.get(ask) for ask in ids)
        if all(ask.status != "expired" for ask in asks):
            return asks
        with self._connection.transaction(session) as cur:
            if fence is not None:
                check_fence(cur, session=session, fence=fence, now=self._connection.now())
            for ask in asks:
                if ask.status == "expired":
                    self._close(cur, session, ask=ask.id, status="expired")
        return tuple(self.get(ask) for ask in ids)

    @persistent
    def open(self, session: str | None = None) -> tuple[Ask, ...]:
        """Read the asks that wait for an answer, the oldest first.

        Args:
            session: Only those of this session; None for all.

        Returns:
            The open asks whose time has not run out.
        """
        where, values = ("", ()) if session is None else (" AND session = ?", (session,))
        with self._connection.read() as cur:
            cur.execute(f"{_SELECT}WHERE status = 'open'{where} ORDER BY created_at, rowid", values)
            rows = cur.fetchall()
        now, cipher = self._connection.clock.now(), self._connection.cipher
        asks = (_aged(from_row(row, cipher=cipher), now=now) for row in rows)
        return tuple(ask for ask in asks if ask.status == "open")

    @persistent
    def of(self, session: str) -> tuple[Ask, ...]:
        """Read all asks of a session, in the order in which they were put.

        Args:
            session: The session's id.

        Returns:
            The asks; open ones whose time has run out read as expired.
        """
        with self._connection.read() as cur:
            rows = cur.execute(f"{_SELECT}WHERE session = ? ORDER BY rowid", (session,)).fetchall()
        now, cipher = self._connection.clock.now(), self._connection.cipher
        return tuple(_aged(from_row(row, cipher=cipher), now=now) for row in rows)

    @persistent
    def edits(self, session: str, *, run: str, call: int) -> tuple[Ask, ...]:
        """Read the asks of a run in which people edited calls of one number, whatever branch they stand on.

        Args:
            session: The session they belong to.
            run: The run.
            call: The number of the call in its activation.
        """
        with self._connection.read() as cur:
            cur.execute(
                f"{_SELECT}WHERE session = ? AND run = ? AND call = ? AND decision = 'edit' ORDER BY rowid",
                (session, run, call),
            )
            return tuple(from_row(row, cipher=self._connection.cipher) for row in cur.fetchall())

    @persistent
    def times_answered(self, key: CallKey) -> int:
        """Count how often people were asked about one call and answered, or let the time for it run out; more than
        once if its arguments changed.

        Args:
            key: The call.
        """
        with self._connection.read() as cur:
            cur.execute(
                "SELECT count(*) FROM stateward_asks WHERE session = ? AND run = ? AND branch = ? AND path = ?"
                " AND activation = ? AND call = ? AND kind <> 'unknown'"
                " AND (status IN ('answered', 'expired') OR status = 'open' AND expires_at <= ?)",
                (*key.values, self._connection.clock.now()),
            )
            return int(cur.fetchone()[0])

    @persistent
    def answer(
        self,
        ask: str,
        *,
        decision: Decision,
        by: str,
        note: str = "",
        tool: str = "",
        arguments: Mapping[str, Any] | None = None,
        value: object = None,
    ) -> Ask:
        """Answer an ask; of several answers at once, from any number of processes, no more are taken than it needs.

        Args:
            ask: The ask's id.
            decision: `approve`, `reject`, `edit` or `respond`.
            by: Who answers.
            note: What they want to say about it.
            tool: Of an edit: what is called; empty for the tool that was shown.
            arguments: Of an edit: with which arguments, all of them.
            value: JSON. What is said to a question that asks for a value.

        Returns:
            The ask: answered, or open when it needs the approval of more people.

        Raises:
            UnknownAsk: No ask has this id.
            AskClosed: It was answered, withdrawn or expired before.
            InputRefused: It does not fit what was asked.
            GovernanceError: Nobody is named, the person may not answer it or has done so already, or it is no answer
                to this ask.
        """
        said = Given(by=by, decision=decision, note=note, tool=tool, arguments=arguments, value=value)
        seen = self.find(ask)
        with self._connection.transaction(seen.session if seen else "") as cur:
            found = self._find(cur, ask)
            if found is None:
                raise self.unknown(ask)
            now = self._connection.now()
            last = found.last
            if self._connection.repeated and last is not None and (last.by, last.at) == (by, now):
                return found  # the first try took it, and its own answer was lost
            answered = taken(_aged(found, now=now), replace(said, at=now))
            cipher = self._connection.cipher
            cur.execute(
                "UPDATE stateward_asks SET status = ?, decision = ?, note = ?, answered_by = ?, answered_at = ?,"
                " answers = ? WHERE id = ?",
                (
                    *(answered.status, answered.decision, sealed_note(note, ask=ask, cipher=cipher), by),
                    *(answered.answered_at, sealed_answers(answered, cipher=cipher), ask),
                ),
            )
            self._audit.append(told(answered, answered.answers[-1]))
        return answered

    @persistent
    def expire(self, session: str, ask: str) -> bool:
        """Close an ask as one that nobody answered in time, whatever the time is: a replay does so.

        Args:
            session: The session it belongs to.
            ask: The ask's id.

        Returns:
            Whether it was open.
        """
        with self._connection.transaction(session) as cur:
            return self._close(cur, session, ask=ask, status="expired")

    @persistent
    def withdraw(self, session: str, ids: Sequence[str], *, fence: int | None = None) -> tuple[str, ...]:
        """Take open asks back, because the run that asked goes another way.

        Args:
            session: The session they belong to; asks of another session are left alone.
            ids: The asks' ids.
            fence: The writer's fencing token; None when the caller has none.

        Returns:
            The ids that were open and are withdrawn now.

        Raises:
            StaleFence: The session was taken over.
        """
        with self._connection.transaction(session) as cur:
            if fence is not None:
                check_fence(cur, session=session, fence=fence, now=self._connection.now())
            return tuple(ask for ask in ids if self._close(cur, session, ask=ask, status="withdrawn"))

    def _close(self, cur: Cursor, session: str, *, ask: str, status: AskStatus) -> bool:
        cur.execute(
            "UPDATE stateward_asks SET status = ? WHERE id = ? AND session = ? AND status = 'open'",
            (status, ask, session),
        )
        if cur.rowcount == 0:
            return False
        self._audit.append({"event": status, "session": session, "ask": ask})
        return True

    def _store(self, cur: Cursor, ask: Ask, *, now: float) -> Ask:
        new = replace(ask, created_at=ask.created_at or now)
        cur.execute(_INSERT, row_values(new, cipher=self._connection.cipher))
        if cur.rowcount:
            self._audit.append({**about(new), "reason": new.reason})
            self._supersede(cur, new)
            return new
        stored = self._stored(cur, ask)
        return self._reopen(cur, ask, now=now) if stored.status == "withdrawn" else _aged(stored, now=now)

    def _supersede(self, cur: Cursor, new: Ask) -> None:
        """Take back what was asked about the call before its arguments changed: no answer to that could count."""
        key = (new.session, new.run, new.branch, new.path, new.activation, new.call, new.kind, new.id)
        rows = cur.execute(_SUPERSEDED, key).fetchall()
        for row in rows:
            self._close(cur, new.session, ask=row[0], status="withdrawn")

    def _reopen(self, cur: Cursor, ask: Ask, *, now: float) -> Ask:
        opened = replace(ask, status="open", created_at=now, decision=None, answered_at=None)
        cur.execute(_REOPEN, (*row_values(opened, cipher=self._connection.cipher), ask.id))
        self._audit.append({**about(opened), "event": "reopened", "reason": opened.reason})
        return opened

    def _stored(self, cur: Cursor, ask: Ask) -> Ask:
        stored = self._find(cur, ask.id)
        if stored is None or _question(stored) != _question(ask):
            raise CheckpointError(
                f"Another call has an ask with the id `{ask.id}`",
                where=f"session `{ask.session}`, state `{ask.path}`",
                fix="Make ids with `ask_id`.",
            )
        return stored

    def _find(self, cur: Cursor, ask: str) -> Ask | None:
        row = cur.execute(_SELECT + "WHERE id = ?", (ask,)).fetchone()
        return None if row is None else from_row(row, cipher=self._connection.cipher)

    def unknown(self, ask: str) -> UnknownAsk:
        """Make the error for an ask that is not there, or not there for the caller.

        Args:
            ask: The ask's id.
        """
        return UnknownAsk(f"No ask `{ask}`", where=self._connection.label, fix="List them with `inbox`.")


def _aged(ask: Ask, *, now: float) -> Ask:
    if ask.status == "open" and ask.expires_at is not None and ask.expires_at <= now:
        return replace(ask, status="expired")
    return ask


def _question(ask: Ask) -> tuple[object, ...]:
    return (ask.session, ask.run, ask.branch, ask.path, ask.activation, ask.call, ask.fingerprint)
