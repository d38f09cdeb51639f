"""Sessions and their terminal records: what may be told about a run without reading its checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stateward.run.checkpoint import TERMINAL, wakes_at
from stateward.run.store.audit_log import AuditLog
from stateward.run.store.connection import Connection, persistent
from stateward.run.store.cursor import Cursor
from stateward.run.store.json_text import read_json, read_sealed, write_json, write_sealed
from stateward.run.store.lease import is_living
from stateward.run.store.mailbox import take
from stateward.run.store.owner import no_session, refuse_stranger
from stateward.run.store.session_row import SessionRow, TerminalRecord

_ASKED = """(
    SELECT MIN(of_state.ends) FROM (
        SELECT CASE WHEN COUNT(a.expires_at) = COUNT(*) THEN MAX(a.expires_at) END AS ends FROM stateward_asks a
        WHERE a.session = s.id AND a.run = s.run AND a.branch = s.branch AND a.status = 'open'
        GROUP BY a.path, a.activation) of_state)"""
"""When a state that asks goes on although nobody answers: when the last of its open asks expires."""

_CONTROL = "the control channel"
_SELECT = f"""
SELECT s.id, s.graph, s.tenant, s.status, s.path, s.run, s.run_no, s.branch, s.mode,
    s.chart_hash, s.policy_hash, s.schema_hash, s.reason, s.created_at, s.updated_at,
    s.holder, s.fence, s.lease_until, s.wakes_at, s.mail,
    COUNT(CASE WHEN j.kind = 'model' AND j.tries > 0 THEN 1 END),
    COALESCE(SUM(j.tokens_in + j.tokens_out), 0),
    COALESCE(SUM(j.usd), 0),
    CASE WHEN s.status = 'waiting' THEN {_ASKED} END
FROM stateward_sessions s LEFT JOIN stateward_journal j ON j.session = s.id
"""

_UPSERT = """
INSERT INTO stateward_sessions AS old (id, path, status, run, run_no, branch, mode, chart_hash, policy_hash,
    schema_hash, reason, created_at, updated_at, wakes_at, mail)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET status = excluded.status, path = excluded.path, run = excluded.run,
    run_no = excluded.run_no, branch = excluded.branch, mode = excluded.mode,
    chart_hash = excluded.chart_hash, policy_hash = excluded.policy_hash,
    schema_hash = excluded.schema_hash, reason = excluded.reason,
    updated_at = excluded.updated_at, wakes_at = excluded.wakes_at, 
    mail = CASE WHEN excluded.mail > old.mail THEN excluded.mail ELSE old.mail END
"""

_FOLLOW = """
UPDATE stateward_sessions SET path = ?, updated_at = ?, wakes_at = ?, reason = ?, status = ?, run = ?, run_no = ?,
    branch = ?, mode = ?, chart_hash = ?, policy_hash = ?, schema_hash = ?
WHERE id = ? AND fence = ? AND mail >= ? AND (run <> ? OR status IN ('running', 'waiting'))
    AND NOT EXISTS (SELECT 1 FROM stateward_terminals WHERE session = ? AND run = ?)
"""
"""Where nobody takes a letter and no record of an end has to go. Who waited for a lock asks the row, whose newest
version is looked at, and not only the table of ends."""

_WAKING = f"""
SELECT id FROM stateward_sessions s
WHERE graph = ? AND (wakes_at <= ? OR status = 'waiting' AND {_ASKED} <= ?
    OR status IN ('running', 'waiting') AND EXISTS (
    SELECT 1 FROM stateward_mailbox m WHERE m.session = s.id AND m.status = 'posted' AND m.no > s.mail))
ORDER BY wakes_at IS NULL, wakes_at, created_at, id
"""


class Sessions:
    """The sessions of one database.

    Args:
        connection: The database.
        audit: Where the end of a run is recorded.
    """

    def __init__(self, connection: Connection, *, audit: AuditLog) -> None:
        self._connection = connection
        self._audit = audit

    @persistent
    def get(self, session: str) -> SessionRow:
        """Read one session.

        Args:
            session: The session's id.

        Returns:
            Its row.

        Raises:
            UnknownSession: No session has this id.
        """
        with self._connection.read() as cur:
            row = cur.execute(_SELECT + "WHERE s.id = ? GROUP BY s.id", (session,)).fetchone()
        if row is None:
            raise no_session(session, where=self._connection.label)
        return self._row(row)

    @persistent
    def tenant(self, session: str) -> str:
        """Read who owns a session.

        Args:
            session: The session's id.

        Returns:
            The tenant; empty when it has none, or is not there yet.
        """
        with self._connection.read() as cur:
            row = cur.execute("SELECT tenant FROM stateward_sessions WHERE id = ?", (session,)).fetchone()
        return "" if row is None else str(row[0])

    @persistent
    def list(self, *, status: str | None = None) -> tuple[SessionRow, ...]:
        """Read all sessions, the oldest first.

        Args:
            status: Only those with this status word; None for all.

        Returns:
            Their rows.
        """
        where, values = ("", ()) if status is None else ("WHERE s.status = ? ", (status,))
        with self._connection.read() as cur:
            cur.execute(_SELECT + where + "GROUP BY s.id ORDER BY s.created_at, s.id", values)
            return tuple(self._row(row) for row in cur.fetchall())

    def refuse_stranger(self, session: str, *, tenant: str) -> None:
        """Refuse a caller of another tenant than the session's.

        Args:
            session: The session's id.
            tenant: Whom the caller names; empty when nobody.

        Raises:
            UnknownSession: The session belongs to another tenant.
        """
        if tenant:
            refuse_stranger(session, owner=self.tenant(session), tenant=tenant, where=self._connection.label)

    @persistent
    def waking(self, *, graph: str, now: float) -> tuple[str, ...]:
        """Find the sessions that somebody should go on with: a timer is due, their questions have expired, or an event
        waits for them.

        Args:
            graph: Only those of this graph.
            now: Seconds since the epoch.

        Returns:
            Their ids, the longest overdue first.
        """
        with self._connection.read() as cur:
            return tuple(row[0] for row in cur.execute(_WAKING, (graph, now, now)).fetchall())

    def terminal(self, session: str, run: str) -> TerminalRecord | None:
        """Read the end of a run.

        Args:
            session: The session's id.
            run: The run's id.

        Returns:
            Its record; None when the run has not ended.
        """
        return next((record for record in self.terminals(session) if record.run == run), None)

    @persistent
    def terminals(self, session: str) -> tuple[TerminalRecord, ...]:
        """Read the ends of a session's runs, in the order in which they ended.

        Args:
            session: The session's id.

        Returns:
            At most one record a run.
        """
        with self._connection.read() as cur:
            cur.execute(
                "SELECT session, run, status, path, branch, reason, checkpoint, ended_at"
                " FROM stateward_terminals WHERE session = ? ORDER BY ended_at, run",
                (session,),
            )
            return tuple(self._terminal(row) for row in cur.fetchall())

    def follow(self, cur: Cursor, *, session: str, control: Mapping[str, Any], fence: int | None) -> bool:
        """Bring the row up to a step, as `project` does, if the writer holds the session.

        What the row must be for that, and that the fence in it is the writer's, is asked in the statement that changes
        it: one, where `check_fence` and `project` need four. The end of a run is told afterwards, by `end`.

        Args:
            cur: A cursor in the transaction of the checkpoint.
            session: The session's id.
            control: The control channel.
            fence: The writer's fencing token; None when it has no lease.

        Returns:
            Whether that was all; False when nothing was changed, and `check_fence` and `project` have to look.
        """
        following = self.following(session=session, control=control, fence=fence)
        return following is not None and cur.execute(*following).rowcount == 1

    def following(
        self, *, session: str, control: Mapping[str, Any], fence: int | None
    ) -> tuple[str, tuple[object, ...]] | None:
        """Return the statement of `follow` and its parameters; None when that cannot be all.

        Args:
            session: The session's id.
            control: The control channel.
            fence: The writer's fencing token; None when it has no lease.
        """
        run: Mapping[str, Any] = control.get("run") or {}
        if fence is None or not run.get("id") or not control.get("status"):
            return None
        now, known = self._connection.now(), (session, fence, control.get("mail") or 0, run["id"], session, run["id"])
        changed = (_at(control), now, wakes_at(control), self._reason(session, control.get("reason")))
        return _FOLLOW, (*changed, *_standing(control, run), *known)

    def end(self, cur: Cursor, *, session: str, control: Mapping[str, Any], checkpoint: str) -> None:
        """Record the end of a run whose row was brought up by `follow`; nothing when it goes on.

        Args:
            cur: A cursor in the same transaction.
            session: The session's id.
            control: The control channel.
            checkpoint: The checkpoint's id.
        """
        if control["status"] in TERMINAL:
            now = self._connection.now()
            self._note_end(cur, session=session, control=control, checkpoint=checkpoint, now=now)

    def project(self, cur: Cursor, *, session: str, control: Mapping[str, Any], checkpoint: str) -> None:
        """Bring the row up to a checkpoint's control channel; call it in the transaction of the checkpoint.

        A status that ends the run writes its terminal record, once. A run that goes on after its end,
        because a person raised its limit, loses the record again: the audit log keeps both.

        Args:
            cur: A cursor in the transaction.
            session: The session's id; its row is created when it has none.
            control: The control channel; one without `status` is left alone.
            checkpoint: The checkpoint's id.
        """
        status = control.get("status")
        if not status:
            return
        run: Mapping[str, Any] = control.get("run") or {}
        cur.execute("SELECT run, status, mail FROM stateward_sessions WHERE id = ?", (session,))
        before = cur.fetchone() or ("", "", 0)
        now, mail = self._connection.now(), control.get("mail") or 0
        cur.execute(_UPSERT, self._projected(session, control=control, run=run, now=now))
        if mail > before[2]:
            take(cur, session=session, no=mail, at=", ".join(control.get("at") or ()))
        if run.get("id") and before[:2] != (run["id"], status):
            self._turn(cur, session=session, control=control, checkpoint=checkpoint, now=now)

    def _turn(self, cur: Cursor, *, session: str, control: Mapping[str, Any], checkpoint: str, now: float) -> None:
        """Bring the records of ends up to another status of a run."""
        run, status = control["run"]["id"], control["status"]
        cur.execute(
            "DELETE FROM stateward_terminals WHERE session = ? AND run = ? AND status <> ?",
            (session, run, status),
        )
        if cur.rowcount > 0 or status in TERMINAL:
            self._note_end(cur, session=session, control=control, checkpoint=checkpoint, now=now)

    def _note_end(self, cur: Cursor, *, session: str, control: Mapping[str, Any], checkpoint: str, now: float) -> None:
        """Record that a run has ended, or that it goes on after its end."""
        run, status, reason = control["run"]["id"], control["status"], control.get("reason")
        if status in TERMINAL:
            cur.execute(
                "INSERT INTO stateward_terminals"
                " (session, run, status, path, branch, reason, checkpoint, ended_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session, run) DO NOTHING",
                (
                    session,
                    run,
                    status,
                    _at(control),
                    control.get("branch") or "",
                    self._reason(session, reason),
                    checkpoint,
                    now,
                ),
            )
        event = "ended" if status in TERMINAL else "reopened"
        self._audit.append({"event": event, "session": session, "run": run, "status": status, "reason": reason})

    def _projected(
        self, session: str, *, control: Mapping[str, Any], run: Mapping[str, Any], now: float
    ) -> tuple[object, ...]:
        reason, mail = self._reason(session, control.get("reason")), control.get("mail") or 0
        return (session, _at(control), *_standing(control, run), reason, now, now, wakes_at(control), mail)

    def _reason(self, session: str, reason: object) -> str | None:
        return write_sealed(reason, "reason", session, cipher=self._connection.cipher, where=_CONTROL)

    def _open_reason(self, session: str, text: str | None) -> Any:
        return read_sealed(text, "reason", session, cipher=self._connection.cipher)

    def _row(self, row: tuple[Any, ...]) -> SessionRow:  # one row of `_SELECT`
        now = self._connection.clock.now()
        stalled = row[3] == "running" and not is_living(row[15], until=row[17], now=now)
        return SessionRow(
            id=row[0],
            graph=row[1],
            tenant=row[2],
            status=row[3],
            path=tuple(read_json(row[4])),
            run=row[5],
            run_no=row[6],
            branch=row[7],
            mode=row[8],
            chart_hash=row[9],
            policy_hash=row[10],
            schema_hash=row[11],
            reason=self._open_reason(row[0], row[12]),
            created_at=row[13],
            updated_at=row[14],
            holder=row[15],
            fence=row[16],
            lease_until=row[17],
            wakes_at=min((due for due in (row[18], row[23]) if due is not None), default=None),
            mail=row[19],
            turns=row[20],
            tokens=int(row[21]),
            usd=float(row[22]),
            stalled=stalled,
        )

    def _terminal(self, row: tuple[Any, ...]) -> TerminalRecord:  # one row of stateward_terminals
        return TerminalRecord(
            session=row[0],
            run=row[1],
            status=row[2],
            path=tuple(read_json(row[3])),
            branch=row[4],
            reason=self._open_reason(row[0], row[5]),
            checkpoint=row[6],
            ended_at=row[7],
        )


def _at(control: Mapping[str, Any]) -> str:
    return write_json(control.get("at") or [], where=_CONTROL)


def _standing(control: Mapping[str, Any], run: Mapping[str, Any]) -> tuple[object, ...]:
    """Status, run, number, branch, mode and the three hashes, as the row's columns name them."""
    hashes: Mapping[str, Any] = run.get("hashes") or {}
    return (
        control["status"],
        run.get("id") or "",
        run.get("no") or 0,
        control.get("branch") or "",
        run.get("mode") or "",
        hashes.get("chart") or "",
        hashes.get("policy") or "",
        hashes.get("schema") or "",
    )
