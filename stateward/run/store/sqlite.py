"""SQLite: one connection shared by the threads of a process, and errors a person can act on.

- A transaction takes the write lock when it begins (`BEGIN IMMEDIATE`), so it never fails half-way because a
  reader became a writer, and other processes wait for it up to the busy timeout. Whose session it is does not matter:
  SQLite has one writer.
- WAL with `synchronous=NORMAL`: what is committed survives the death of the process; a power cut may lose
  the last commits but never tears one.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from stateward.errors import CheckpointError
from stateward.run.store.clock import Clock
from stateward.run.store.connection import Connection
from stateward.run.store.cursor import Cursor

T = TypeVar("T")

BUSY_TIMEOUT_S = 10.0
"""How long a writer waits for the write lock of another process."""


class SqliteConnection(Connection):
    """A SQLite connection with a lock, so that the threads of a process share it one at a time.

    Args:
        raw: The connection, in autocommit mode and usable from every thread.
        clock: Where the time comes from.
        label: How messages name the database.
    """

    def __init__(self, raw: sqlite3.Connection, *, clock: Clock, label: str) -> None:
        super().__init__(clock=clock, label=label)
        self.raw = raw
        self._lock = threading.RLock()
        self._reading = _Read(self, lock=self._lock)
        self._writing = _Transaction(self, lock=self._lock)

    def transaction(self, session: str = "") -> AbstractContextManager[sqlite3.Cursor]:
        """Hold the write lock until the block ends; see `Connection.transaction`."""
        return self._writing

    def read(self) -> AbstractContextManager[sqlite3.Cursor]:
        """Lend a cursor for reading; see `Connection.read`."""
        return self._reading

    def alone(self, cur: Cursor, *, name: str) -> None:
        """Do nothing: a transaction is alone."""

    def version(self) -> object:
        """Return what other connections have written, and what this one has."""
        with self.read() as cur:
            (version,) = cur.execute("PRAGMA data_version").fetchone()
        return version, self.raw.total_changes

    def tables(self) -> frozenset[str]:
        """Return the names of the tables that are there."""
        with self.read() as cur:
            return frozenset(row[0] for row in cur.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))

    def dialect(self, statement: str) -> str:
        """Return the statement as it is."""
        return statement

    def persist(self, work: Callable[[], T]) -> T:
        """Do the work: a connection to a file is not lost."""
        return work()

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        with self._lock:
            self.closed = True
            self.raw.close()


class _Read:
    """Blocks that read: the lock is held, the cursor is closed, SQLite's errors are named.

    A cursor left half read would pin the snapshot that the next transaction starts from. One object serves
    all blocks of a connection: what differs between them is on its stack, which only the holder of the lock
    touches.
    """

    def __init__(self, connection: SqliteConnection, *, lock: threading.RLock) -> None:
        self._connection = connection
        self._raw = connection.raw
        self._lock = lock
        self._cursors: list[sqlite3.Cursor] = []

    def __enter__(self) -> sqlite3.Cursor:
        self._lock.acquire()
        try:
            self._begin()
            cur = self._raw.cursor()
        except sqlite3.Error as error:
            self._lock.release()
            raise named(error, label=self._connection.label) from error
        except BaseException:
            self._lock.release()
            raise
        self._cursors.append(cur)
        return cur

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._cursors.pop().close()
            self._end(completed=kind is None)
            if isinstance(error, sqlite3.Error):
                raise error
        except sqlite3.Error as failed:
            raise named(failed, label=self._connection.label) from failed
        finally:
            self._lock.release()

    def _begin(self) -> None:
        """Do nothing: SQLite reads without a transaction of ours."""

    def _end(self, *, completed: bool) -> None:
        """Do nothing."""


class _Transaction(_Read):
    """Blocks that write; the outermost one commits or rolls back."""

    def __init__(self, connection: SqliteConnection, *, lock: threading.RLock) -> None:
        super().__init__(connection, lock=lock)
        self._doomed = False

    def _begin(self) -> None:
        if not self._cursors:
            self._raw.execute("BEGIN IMMEDIATE")
            self._doomed = False

    def _end(self, *, completed: bool) -> None:
        self._doomed = self._doomed or not completed
        if self._cursors:
            return
        if not self._doomed:
            self._commit()
            return
        self._rollback()
        if completed:
            raise CheckpointError(
                "A transaction was rolled back because a block inside it failed",
                where=f"`{self._connection.label}`",
                fix="Let the error of the inner block pass instead of catching it inside the transaction.",
            )

    def _commit(self) -> None:
        try:
            self._raw.execute("COMMIT")
        except BaseException:
            self._rollback()
            raise

    def _rollback(self) -> None:
        # SQLite rolls back by itself on some errors, such as a full disk.
        if self._raw.in_transaction:
            self._raw.execute("ROLLBACK")


def connect(path: Path | None, *, clock: Clock, label: str) -> SqliteConnection:
    """Open a SQLite database for the threads of this process.

    Args:
        path: The file, which is created with its folders; None for a database in memory.
        clock: Where the time comes from.
        label: How messages name the database.

    Returns:
        The connection, in WAL mode when it is a file.

    Raises:
        CheckpointError: The file cannot be created, is not a SQLite database, or stays locked.
    """
    return SqliteConnection(open_raw(path, label=label), clock=clock, label=label)


def open_raw(path: Path | None, *, label: str) -> sqlite3.Connection:
    """Open a bare connection in autocommit mode with this module's settings.

    Args:
        path: The file, which is created with its folders; None for a database in memory.
        label: How messages name the database.

    Returns:
        The connection.

    Raises:
        CheckpointError: The file cannot be created, is not a SQLite database, or stays locked.
    """
    try:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        raw = sqlite3.connect(
            ":memory:" if path is None else path,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        _configure(raw)
    except OSError as error:
        raise named(sqlite3.OperationalError(f"unable to open its folder: {error}"), label=label) from error
    except sqlite3.Error as error:
        raise named(error, label=label) from error
    return raw


def _configure(raw: sqlite3.Connection) -> None:
    pause = threading.Event()
    for attempt in range(int(BUSY_TIMEOUT_S / 0.02), -1, -1):
        try:
            # The switch to WAL does not wait for the busy timeout when another process switches at the same
            # time.
            raw.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            if not attempt or "locked" not in str(error):
                raise
            pause.wait(0.02)
    raw.execute("PRAGMA synchronous=NORMAL")


_ADVICE = (
    ("file is not a database", "Give another path: this file holds something else."),
    ("malformed", "Restore the file from a backup."),
    ("full", "Free some disk space and resume: nothing of the failed step was kept."),
    ("locked", f"Another process held the write lock for {BUSY_TIMEOUT_S:g} s: end it, or try again."),
    ("readonly", "Make the file and its folder writable."),
    ("unable to open", "Check that the folder exists and can be written, and that the path is no folder."),
    ("closed", "Open the database again with `stateward.open`."),
)


def named(error: sqlite3.Error, *, label: str) -> CheckpointError:
    """Turn an error of SQLite into one that says where it happened and what to do.

    Args:
        error: What SQLite raised.
        label: How the message names the database.

    Returns:
        The error to raise.
    """
    text = str(error)
    advice = next((fix for part, fix in _ADVICE if part in text), "Check the path and its permissions.")
    return CheckpointError(f"The database failed: {text}", where=f"`{label}`", fix=advice)
