"""LangGraph's tables in a SQLite database, made so that any number of processes may do so at once."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.sqlite import SqliteStore

from stateward.run.store.sqlite import SqliteConnection, named
from stateward.run.store.sqlite_store import FileStore


def set_up_checkpoints(connection: SqliteConnection) -> None:
    """Make the tables of the checkpoints, unless they are there.

    Args:
        connection: The database.

    Raises:
        CheckpointError: It cannot be written.
    """
    with connection.read() as cur:
        cur.execute("SELECT 1 FROM pragma_table_info('writes') WHERE name = 'task_path'")
        ready = cur.fetchone() is not None
    if not ready:
        try:
            # Each statement is safe to repeat, and LangGraph's own: it knows which columns an older file
            # lacks.
            SqliteSaver(connection.raw).setup()
        except sqlite3.Error as error:
            raise named(error, label=connection.label) from error


def open_store(path: Path, connection: SqliteConnection) -> FileStore:
    """Open the long-term store of a file, and make its tables unless they are there.

    Args:
        path: The file.
        connection: The same database, for the tables.

    Returns:
        The store, over a connection of its own.

    Raises:
        CheckpointError: The file cannot be written.
    """
    _prepare_store(connection)
    # A look takes no write lock; what both looks and writes takes it when it first writes.
    own = SqliteConnection(path, clock=connection.clock, label=connection.label, begin="BEGIN")
    try:
        store = FileStore(own)
        store.setup()
    except sqlite3.Error as error:
        own.close()
        raise named(error, label=connection.label) from error
    return store


def _prepare_store(connection: SqliteConnection) -> None:
    """Take LangGraph's steps to the store's tables in one transaction.

    Its own `setup` commits each step before it notes it: two processes at once take one twice, and one that was killed
    in between leaves a file that can never be opened again.
    """
    with connection.transaction() as cur:
        cur.execute("CREATE TABLE IF NOT EXISTS store_migrations (v INTEGER PRIMARY KEY)")
        (done,) = cur.execute("SELECT COALESCE(MAX(v), -1) FROM store_migrations").fetchone()
        for version, step in enumerate(SqliteStore.MIGRATIONS[done + 1 :], start=done + 1):
            cur.execute(step)
            cur.execute("INSERT INTO store_migrations (v) VALUES (?)", (version,))
