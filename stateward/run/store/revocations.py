"""Revocations as they are stored: an operator takes a tool, an agent or a state back from running sessions.

They are read before every decision of the door, so the next call of every process knows of them. Rows are only added:
the database itself refuses to change or delete one, and no fork, migration or archive leaves one behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, get_args

from stateward.errors import GovernanceError
from stateward.govern.person import person
from stateward.govern.revocation import Revocation, Revoked
from stateward.run.store.audit_log import AuditLog
from stateward.run.store.connection import Connection, persistent
from stateward.run.store.cursor import Cursor
from stateward.run.store.owner import refuse_unknown

_SELECT = "SELECT session, kind, name, by, reason, at FROM stateward_revocations "
_INSERT = (
    "INSERT INTO stateward_revocations (session, kind, name, by, reason, at) VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (session, kind, name) DO NOTHING"
)
_PLACE = "revocations"


class Revocations:
    """The revocations of one database.

    Args:
        connection: The database.
        audit: Where it is recorded who revoked what.
    """

    def __init__(self, connection: Connection, *, audit: AuditLog) -> None:
        self._connection = connection
        self._audit = audit

    @persistent
    def add(self, name: str, *, kind: Revoked, by: str, reason: str = "", session: str | None = None) -> Revocation:
        """Take something back, for good; it holds from the next call on.

        Args:
            name: The tool, the model role or agent, or the path of the state.
            kind: `tool`, `agent` or `state`.
            by: The person who decides.
            reason: Why.
            session: From which session; None takes it from all, those that come later included.

        Returns:
            What stands now: the first of several revocations of the same.

        Raises:
            GovernanceError: Nobody is named, nothing is named, or there is no such kind.
            UnknownSession: No session has this id.
        """
        _refuse_unsaid(name, kind=kind, by=by)
        with self._connection.transaction(session or "") as cur:
            if session is not None:
                refuse_unknown(cur, session, where=self._connection.label)
            made = Revocation(
                kind=kind, name=name, by=by, reason=reason, session=session or "", at=self._connection.now()
            )
            cur.execute(_INSERT, self._row(made))
            if cur.rowcount:
                told = {"event": "revoked", "session": made.session, "kind": kind, "name": name}
                self._audit.append({**told, "by": by, "reason": reason})
                return made
            cur.execute(_SELECT + "WHERE session = ? AND kind = ? AND name = ?", (made.session, kind, name))
            return self._read(cur.fetchone())

    @persistent
    def of(self, session: str) -> tuple[Revocation, ...]:
        """Read what was taken back from a session; the door asks before every decision.

        Args:
            session: The session's id.

        Returns:
            What was taken from it or from all, the oldest first.
        """
        with self._connection.read() as cur:
            # Sorted here: a statement that sorts costs as much again, and there is seldom anything to sort.
            rows = cur.execute(_SELECT + "WHERE session IN (?, '')", (session,)).fetchall()
        return tuple(sorted(map(self._read, rows), key=lambda one: (one.at, one.kind, one.name))) if rows else ()

    @persistent
    def list(self) -> tuple[Revocation, ...]:
        """Read all revocations, the oldest first."""
        with self._connection.read() as cur:
            cur.execute(_SELECT + "ORDER BY at, session, kind, name")
            return tuple(map(self._read, cur.fetchall()))

    def inherited(self, session: str) -> tuple[tuple[object, ...], ...]:
        """Return what was taken back from all sessions as rows of one of them, for its archive.

        Args:
            session: The session's id.

        Returns:
            Session, kind, name, by, reason as it is stored, and time.
        """
        known = self.of(session)
        own = {(each.kind, each.name) for each in known if each.session}
        wide = (each for each in known if not each.session and (each.kind, each.name) not in own)
        return tuple(self._row(replace(each, session=session)) for each in wide)

    def follow(self, cur: Cursor, session: str, *, renamed: Callable[[str], str | None], named: Iterable[str]) -> None:
        """Let revoked states stay revoked under the names that a migration gives them.

        Args:
            cur: A cursor in the migration's transaction.
            session: The session's id.
            renamed: Gives the new path of a state; None where it is no more.
            named: The paths that the migration names.
        """
        cur.execute(_SELECT + "WHERE session IN (?, '') AND kind = 'state'", (session,))
        for known in map(self._read, cur.fetchall()):
            inside = (path for path in named if _covers(known, path))
            for new in sorted({path for old in (known.name, *inside) if (path := renamed(old)) is not None}):
                if not _covers(known, new):
                    cur.execute(_INSERT, self._row(replace(known, name=new, session=session)))

    def _row(self, known: Revocation) -> tuple[object, ...]:
        sealed = self._connection.cipher.seal_text(known.reason, _PLACE, known.session)
        return known.session, known.kind, known.name, known.by, sealed, known.at

    def _read(self, row: tuple[Any, ...]) -> Revocation:
        session, kind, name, by, sealed, at = row
        reason = self._connection.cipher.open_text(sealed, _PLACE, session)
        return Revocation(kind=kind, name=name, by=by, reason=reason, session=session, at=at)


def _covers(known: Revocation, path: str) -> bool:
    return known.hits(kind="", name="", path=path)


def _refuse_unsaid(name: str, *, kind: Revoked, by: str) -> None:
    if kind not in get_args(Revoked):
        raise GovernanceError(f"`{kind}` cannot be revoked", fix=f"Revoke one of: {', '.join(get_args(Revoked))}.")
    if not name.strip():
        raise GovernanceError("Nothing is named that is to be revoked", fix=f"Name the {kind}.")
    if not person(by):
        raise GovernanceError("Only a named person can revoke something", fix="Say who with `by`.")
