"""Whose a session is: for another tenant's callers it is not there.

A session belongs to the first tenant that a call named. A caller that names none is let in: it is the host itself, such
as an operator at the command line, and who hosts several tenants names one in every call. To a caller that names
another tenant everything is told as of a session that does not exist.
"""

from __future__ import annotations

from stateward.errors import UnknownSession
from stateward.run.store.cursor import Cursor

TENANT = "tenant"
"""The configurable key of whom a caller names."""


def no_session(session: str, *, where: str) -> UnknownSession:
    """Make the error for a session that is not there, or not there for the caller.

    Args:
        session: The session's id.
        where: The database.
    """
    fix = "List them with `sessions`; an input opens a new one, under an id that nobody has."
    return UnknownSession(f"No session `{session}`", where=where, fix=fix)


def refuse_unknown(cur: Cursor, session: str, *, where: str) -> None:
    """Refuse to go on about a session that is not there.

    Args:
        cur: A cursor in the transaction of who goes on.
        session: The session's id.
        where: The database.

    Raises:
        UnknownSession: No session has this id.
    """
    if cur.execute("SELECT 1 FROM stateward_sessions WHERE id = ?", (session,)).fetchone() is None:
        raise no_session(session, where=where)


def refuse_stranger(session: str, *, owner: str, tenant: str, where: str) -> None:
    """Refuse another tenant's caller.

    Args:
        session: The session's id.
        owner: Whose it is; empty when it is nobody's.
        tenant: Whom the caller names; empty when nobody.
        where: The database.

    Raises:
        UnknownSession: The session belongs to another tenant.
    """
    if owner and tenant and owner != tenant:
        raise no_session(session, where=where)
