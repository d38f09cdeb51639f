"""LangGraph's SQLite saver behind the fence."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager

from langgraph.checkpoint.sqlite import SqliteSaver

from stateward.run.store.asks import Asks
from stateward.run.store.fence import Fenced
from stateward.run.store.serializer import AllowList, StrictSerializer
from stateward.run.store.sessions import Sessions
from stateward.run.store.sqlite import SqliteConnection


class FencedSaver(Fenced, SqliteSaver):
    """A checkpoint saver that only the holder of a session can write through, sync and async.

    Args:
        connection: The database; its checkpoint tables exist.
        sessions: Where the control channel is projected to.
        asks: Where questions are withdrawn whose session is deleted.
        allowed: Types that may be stored, beside LangGraph's safe types.
    """

    def __init__(
        self, connection: SqliteConnection, *, sessions: Sessions, asks: Asks, allowed: AllowList = ()
    ) -> None:
        SqliteSaver.__init__(self, connection.raw, serde=StrictSerializer(allowed=allowed))
        self._sqlite = connection
        self.fence(connection, sessions=sessions, asks=asks, lanes=1)

    def cursor(  # pyright: ignore[reportIncompatibleMethodOverride]  # a context manager, of another class
        self, transaction: bool = True
    ) -> AbstractContextManager[sqlite3.Cursor]:
        """Lend a cursor of the database.

        Args:
            transaction: Whether the block writes; it is rolled back when it raises.

        Returns:
            A context manager of the cursor.
        """
        self.conn = self._sqlite.raw  # LangGraph's listing asks it for a second cursor; a child's is another one
        return self._sqlite.transaction() if transaction else self._sqlite.read()
