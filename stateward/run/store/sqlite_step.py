"""What LangGraph's SQLite saver would store, in as few statements as can be.

Each statement gives up Python's lock and has to get it back from the other threads of the process. So several rows are
one statement; and what belongs to a session without changing its row is one that asks for the fence itself: it is a
transaction of its own, committed or undone as a whole.

The rows are LangGraph's own: its saver writes them into a list instead of a database.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite import SqliteSaver

from stateward.run.store.listing import Listing, ListingCursor

MOST = 24
"""How many rows one statement stores: each number of rows is a statement of its own, which is prepared."""
_INSERT = re.compile(r"(INSERT OR (REPLACE|IGNORE) INTO \w+ \([\w, ]+\)) VALUES (\([?, ]+\))")


class Listed(Listing, SqliteSaver):
    """LangGraph's saver, which lists what it would store.

    Args:
        raw: A connection, which is not used.
        serde: Turns values into bytes.
    """

    def __init__(self, raw: sqlite3.Connection, *, serde: SerializerProtocol) -> None:
        super().__init__(raw, serde=serde)
        self.parts = []

    def guarded(self, *, session: str, fence: int) -> tuple[str, tuple[Any, ...]] | None:
        """Return the one statement that stores what is listed if a writer holds the session, and its parameters.

        Args:
            session: The session.
            fence: The writer's fencing token.

        Returns:
            The statement changes as many rows as are listed, or none; None when one statement cannot be all, or would
            not tell, since rows that are there are left alone.
        """
        if len(self.parts) != 1:
            return None
        ((sql, rows),) = self.parts
        found = _shape(sql)
        if found is None or found[1] != "REPLACE" or not 0 < len(rows) <= MOST:
            return None
        asked = "WHERE EXISTS (SELECT 1 FROM stateward_sessions WHERE id = ? AND fence = ?)"
        return f"{found[0]} SELECT * FROM ({_values(sql, len(rows))}) {asked}", (*self.parameters(), session, fence)

    def store(self, cur: sqlite3.Cursor) -> None:
        """Store what is listed.

        Args:
            cur: A cursor in a transaction that has looked at the fence.
        """
        for sql, rows in self.parts:
            found = _shape(sql)
            if found is None or not 1 < len(rows) <= MOST:
                cur.executemany(sql, rows)
            else:
                cur.execute(f"{found[0]} {_values(sql, len(rows))}", [value for row in rows for value in row])

    @contextmanager
    def cursor(  # pyright: ignore[reportIncompatibleMethodOverride]  # what LangGraph's methods use of a cursor
        self, transaction: bool = True
    ) -> Generator[ListingCursor]:
        """Lend what lists statements.

        Args:
            transaction: Unused.

        Yields:
            It.
        """
        yield ListingCursor(self.parts)


@lru_cache(maxsize=16)
def _shape(sql: str) -> tuple[str, str, str] | None:
    """Take a statement of LangGraph's apart: the table, what becomes of rows that are there, and one row."""
    found = _INSERT.fullmatch(sql.strip())
    return None if found is None else (found[1], found[2], found[3])


@lru_cache(maxsize=128)
def _values(sql: str, count: int) -> str:
    found = _shape(sql)
    assert found is not None, "whoever asks has looked"
    return f"VALUES {', '.join([found[2]] * count)}"
