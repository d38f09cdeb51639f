"""LangGraph's long-term store over a connection of its own to a SQLite file."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager

from langgraph.store.sqlite import SqliteStore

from stateward.run.store.sqlite import SqliteConnection


class FileStore(SqliteStore):
    """A store whose transactions end however their block ends, in every process that has it.

    Args:
        connection: The database, over a connection that the store has alone; its tables exist.
    """

    def __init__(self, connection: SqliteConnection) -> None:
        super().__init__(connection.raw)
        self._sqlite = connection

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        self._sqlite.close()

    def _cursor(  # pyright: ignore[reportIncompatibleMethodOverride]  # a context manager, of another class
        self, *, transaction: bool = True
    ) -> AbstractContextManager[sqlite3.Cursor]:
        raw = self._sqlite.raw
        if raw is not self.conn:  # this process was forked off
            super().__init__(raw)
        return self._sqlite.transaction() if transaction else self._sqlite.read()
