"""A single statement that writes: a transaction of its own, without BEGIN and COMMIT, on both databases.

It arrives whole and is committed or undone whatever becomes of its sender. Over PostgreSQL it takes the session's locks
itself (`postgres_step.py` says how such a statement sees the database); SQLite has one writer, which it then is.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from stateward.run.store.connection import Connection


@runtime_checkable
class Locking(Protocol):
    """A database whose statements name the locks that they need."""

    def once(self, session: str, statement: str, parameters: tuple[object, ...]) -> Any:  # a row, or None
        """Run a statement under a session's locks; see `Once.row`."""
        ...


class Once:
    """Single statements of one database.

    Args:
        connection: The database.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._locking = connection if isinstance(connection, Locking) else None

    def row(self, session: str, statement: str, parameters: tuple[object, ...]) -> Any:  # a row, or None
        """Run a statement that writes at most one row, when no transaction of this session is under way.

        Args:
            session: The only session whose row it writes.
            statement: It has `{one}` where it wants a 1 that is there once the locks are taken, ends in `RETURNING`,
                and asks the row, and nothing else, whether it may write: others may have written while it waited.
            parameters: What its `?` stand for.

        Returns:
            The row that it returns; None when nothing was written.

        Raises:
            CheckpointError: The database is locked, full or away, or refused the statement; nothing was written.
        """
        if self._locking is not None:
            return self._locking.once(session, statement, parameters)
        with self._connection.read() as cur:  # no block of a transaction: SQLite commits the statement when it ends
            rows = cur.execute(statement.format(one="1"), parameters).fetchall()
        return rows[0] if rows else None
