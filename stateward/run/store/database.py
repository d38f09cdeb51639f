"""One database: LangGraph's checkpoints and store, and Stateward's tables beside them.

`open_database` is the public `stateward.open`. A second dialect is chosen in `_place`, and gets a
connection of its own.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from stateward.errors import CheckpointError
from stateward.run.store.asks import Asks
from stateward.run.store.audit_log import AuditLog
from stateward.run.store.clock import Clock, SystemClock
from stateward.run.store.connection import Connection, connect, named, open_raw
from stateward.run.store.journal import Journal
from stateward.run.store.lease import LEASE_TTL_S, Leases
from stateward.run.store.ledger import Ledger
from stateward.run.store.mailbox import Mailbox
from stateward.run.store.saver import FencedSaver
from stateward.run.store.schema import prepare
from stateward.run.store.sessions import Sessions
from stateward.run.threads import Threads

_FILE = "sqlite:///"


class Database:
    """Everything one database holds; open it with `stateward.open`, and close it, or use it in a `with`
    block.

    Args:
        url: The URL it was opened with.
        path: The file; None for a database in memory.
        connection: The open connection; its tables exist.
        lease_ttl_s: Seconds a lease lives without a heartbeat, more than 0.
    """

    def __init__(self, url: str, *, path: Path | None, connection: Connection, lease_ttl_s: float) -> None:
        self.url = url
        self.clock = connection.clock
        self._path = path
        self._connection = connection
        self.audit = AuditLog(connection)
        self.sessions = Sessions(connection, audit=self.audit)
        self.leases = Leases(connection, ttl_s=lease_ttl_s)
        self.ledger = Ledger(connection, audit=self.audit)
        self.journal = Journal(connection, ledger=self.ledger, audit=self.audit)
        self.asks = Asks(connection, audit=self.audit)
        self.threads = Threads()
        """Where the runs over this database put blocking code."""
        self.mailbox = Mailbox(connection, audit=self.audit, threads=self.threads)
        self.saver = FencedSaver(connection, sessions=self.sessions)
        self._guard = threading.Lock()
        self._store: BaseStore | None = None

    @property
    def store(self) -> BaseStore:
        """LangGraph's long-term store in the same database, opened at its first use."""
        with self._guard:
            if self._store is None:
                self._store = InMemoryStore() if self._path is None else _open_store(self._path, self._connection)
            return self._store

    def transaction(self) -> AbstractContextManager[sqlite3.Cursor]:
        """Hold the write lock until the block ends; what the parts of the database write inside is one
        commit.

        Returns:
            A context manager of a cursor; nested use joins.
        """
        return self._connection.transaction()

    def read(self) -> AbstractContextManager[sqlite3.Cursor]:
        """Lend a cursor for reading.

        Returns:
            A context manager of a cursor.
        """
        return self._connection.read()

    def close(self) -> None:
        """Release the leases of this process and close the database; a second call does nothing."""
        with self._guard:
            store, self._store = self._store, None
        if isinstance(store, SqliteStore):
            store.conn.close()
        if not self._connection.closed:
            self.saver.close()
            self.leases.close()
            self._connection.close()

    def __enter__(self) -> Database:
        """Return the database itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the database."""
        self.close()


def open_database(url: str, *, clock: Clock | None = None, lease_ttl_s: float = LEASE_TTL_S) -> Database:
    """Open a database, and create its file, folders and tables when they are missing.

    Args:
        url: `memory:`, `sqlite:///relative/path` or `sqlite:////absolute/path`.
        clock: Where the time comes from; the machine's by default.
        lease_ttl_s: Seconds a lease lives without a heartbeat, more than 0.

    Returns:
        The database, usable from every thread of this process.

    Raises:
        CheckpointError: The URL is none of these, the file cannot be written, is no database or is full, or
            `lease_ttl_s` is not above 0.
        CodecError: The database was written by a newer release.
    """
    if lease_ttl_s <= 0:
        raise CheckpointError(
            f"`lease_ttl_s` is {lease_ttl_s!r}", where=f"`{url}`", fix="Give a number of seconds above 0."
        )
    path = _place(url)
    connection = connect(path, clock=clock or SystemClock(), label=url)
    try:
        _prepare_checkpoints(connection)
        prepare(connection)
        return Database(url, path=path, connection=connection, lease_ttl_s=lease_ttl_s)
    except BaseException:
        connection.close()
        raise


def _place(url: str) -> Path | None:
    if url == "memory:":
        return None
    if url.startswith(_FILE) and url != _FILE:
        return Path(url.removeprefix(_FILE))
    known = "Use `memory:`, `sqlite:///relative/path` or `sqlite:////absolute/path`."
    if url.startswith(("postgresql:", "postgres:")):
        raise CheckpointError("PostgreSQL is not supported yet", where=f"`{url.partition(':')[0]}:`", fix=known)
    raise CheckpointError(f"`{url}` is no database URL", fix=known)


def _prepare_checkpoints(connection: Connection) -> None:
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


def _open_store(path: Path, connection: Connection) -> SqliteStore:
    _prepare_store(connection)
    store = SqliteStore(open_raw(path, label=connection.label))
    try:
        store.setup()
    except sqlite3.Error as error:
        store.conn.close()
        raise named(error, label=connection.label) from error
    return store


def _prepare_store(connection: Connection) -> None:
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
