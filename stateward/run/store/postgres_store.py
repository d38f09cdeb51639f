"""LangGraph's long-term store over the connections of a PostgreSQL database."""

from __future__ import annotations

from contextlib import AbstractContextManager

import psycopg
from langgraph.store.postgres import PostgresStore
from psycopg.rows import DictRow

from stateward.run.store.postgres import PostgresConnection


class PooledStore(PostgresStore):
    """A store that takes a connection of the database for each piece of work.

    Args:
        connection: The database; the store's tables exist.
    """

    def __init__(self, connection: PostgresConnection) -> None:
        # LangGraph's constructor only keeps the connection; `_cursor` is the one place that uses it.
        super().__init__(None)  # pyright: ignore[reportArgumentType]
        self._postgres = connection

    def _cursor(  # pyright: ignore[reportIncompatibleMethodOverride]  # a context manager, typed less narrowly
        self, *, pipeline: bool = False
    ) -> AbstractContextManager[psycopg.Cursor[DictRow]]:
        return self._postgres.named_rows(pipeline=pipeline)


def open_store(connection: PostgresConnection) -> PostgresStore:
    """Open the long-term store.

    Args:
        connection: The database; the store's tables exist.

    Returns:
        The store.
    """
    return PooledStore(connection)
