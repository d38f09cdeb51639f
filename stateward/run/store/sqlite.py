"""SQLite: one connection shared by the threads of a process, and errors a person can act on.

- A transaction takes the write lock when it begins (`BEGIN IMMEDIATE`), so it never fails half-way because a
  reader became a writer, and other processes wait for it up to the busy timeout. Whose session it is does not matter:
  SQLite has one writer.
- WAL with `synchronous=NORMAL`: what is committed survives the death of the process; a power cut may lose
  the last commits but never tears one.
- A file that was deleted or replaced is written no more, and read no more: who opens its path has another one.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from stateward.errors import CheckpointError
from stateward.run.store.clock import Clock
from stateward.run.store.connection import Connection
from stateward.run.store.cursor import Cursor
from stateward.run.store.per_process import PerProcess

T = TypeVar("T")

BUSY_TIMEOUT_S = 10.0
"""How long a writer waits for the write lock of another process."""


class SqliteConnection(Connection):
    """A SQLite connection with a lock, so that the threads of a process share it one at a time.

    Args:
        path: The file, which is created with its folders; None for a database in memory.
        clock: Where the time comes from.
        label: How messages name the database.
        begin: How a transaction begins.

    Raises:
        CheckpointError: The file cannot be created, is not a SQLite database, or stays locked.
    """

    may_be_lost = False

    def __init__(self, path: Path | None, *, clock: Clock, label: str, begin: str = "BEGIN IMMEDIATE") -> None:
        super().__init__(clock=clock, label=label)
        self._path = None if path is None else str(path.absolute())  # the working directory may be another one later
        self._begin = begin
        self._process = os.getpid()
        self._opened = PerProcess(self._open)

    @property
    def raw(self) -> sqlite3.Connection:
        """The bare connection, in autocommit mode and usable from every thread of this process."""
        return self._opened.get().raw

    def transaction(self, session: str = "") -> AbstractContextManager[sqlite3.Cursor]:
        """Hold the write lock until the block ends; see `Connection.transaction`."""
        opened = self._opened.get()
        if opened.thread == threading.get_ident():
            return _Joined(opened, label=self.label)
        return _Block(self._writing(opened))

    def read(self) -> AbstractContextManager[sqlite3.Cursor]:
        """Lend a cursor for reading; see `Connection.read`."""
        return _Block(self._reading())

    def beside(self) -> AbstractContextManager[sqlite3.Cursor]:
        """Hold the write lock: SQLite has no other."""
        return self.transaction()

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
        """Return the statement as it is; nothing can be truncated here."""
        return "" if "BEFORE TRUNCATE" in statement else statement

    def now(self) -> float:
        """Return the time: what is not done again has no first try."""
        return self.clock.now()

    def persist(self, work: Callable[[], T]) -> T:
        """Do the work: a connection to a file is not lost."""
        return work()

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        self.closed = True
        if not self._opened.is_inherited:
            opened = self._opened.get()
            with opened.lock:
                opened.raw.close()

    def _open(self) -> _Opened:
        if self.closed:
            raise named(sqlite3.ProgrammingError("it is closed"), label=self.label)
        if self._path is None and self._process != os.getpid():
            raise CheckpointError(
                "The database is in the memory of the process that this one was forked off",
                where=f"`{self.label}`",
                fix="Open it after the fork, or give the processes a file or a server: `sqlite:///…`.",
            )
        raw = open_raw(None if self._path is None else Path(self._path), label=self.label)
        return _Opened(raw=raw, lock=threading.RLock(), file=_identity(self._path))

    def _reading(self) -> _Steps:
        """Lend a cursor, and close it: one left half read would pin the snapshot the next transaction starts from."""
        opened = self._opened.get()
        with opened.lock:
            try:
                if not opened.thread:
                    self._refuse_moved(opened)
                cur = opened.raw.cursor()
                try:
                    failed = yield cur
                finally:
                    cur.close()
                if isinstance(failed, sqlite3.Error):
                    raise failed
            except sqlite3.Error as error:
                raise named(error, label=self.label) from error

    def _writing(self, opened: _Opened) -> _Steps:
        """Begin, and commit or roll back, whatever interrupts that."""
        raw = opened.raw
        with opened.lock:
            try:
                try:
                    if raw.in_transaction:
                        raw.execute("ROLLBACK")  # of a block that an interrupt has torn off
                    raw.execute(self._begin)
                    opened.doomed, opened.thread = False, threading.get_ident()
                    cur = raw.cursor()
                    failed = yield cur
                    cur.close()
                    if failed is None and not opened.doomed:
                        self._refuse_moved(opened)
                        raw.execute("COMMIT")
                finally:
                    opened.thread = 0
                    # SQLite rolls back by itself on some errors, such as a full disk.
                    if raw.in_transaction:
                        raw.execute("ROLLBACK")
                if isinstance(failed, sqlite3.Error):
                    raise failed
            except sqlite3.Error as error:
                raise named(error, label=self.label) from error
            if failed is None and opened.doomed:
                raise CheckpointError(
                    "A transaction was rolled back because a block inside it failed",
                    where=f"`{self.label}`",
                    fix="Let the error of the inner block pass instead of catching it inside the transaction.",
                )

    def _refuse_moved(self, opened: _Opened) -> None:
        """Refuse to go on in a file that nobody can open any more: others would run the same sessions elsewhere."""
        if opened.file is not None and _identity(self._path, unknown=opened.file) != opened.file:
            raise CheckpointError(
                "The file of the database was deleted or replaced while it was open",
                where=f"`{self.label}`",
                fix="End every process that has a database open before its file is moved or restored, then open it"
                " again with `stateward.open`; nothing was written to the new file.",
            )


_Steps = Generator[sqlite3.Cursor, BaseException | None, None]
"""A block: it yields its cursor and is sent what ended it, None when nothing went wrong."""


@dataclass(slots=True, kw_only=True)
class _Opened:
    """What one process has of a database."""

    raw: sqlite3.Connection
    lock: threading.RLock
    file: tuple[int, int] | None
    """Device and number of the file; None for a database in memory."""
    thread: int = 0
    """Whose transaction it is in, the holder of the lock; 0 for none."""
    doomed: bool = False
    """Whether a block inside it failed."""


class _Joined:
    """A block inside a transaction of the same thread, which it dooms when it fails.

    Args:
        opened: The connection.
        label: How messages name the database.
    """

    __slots__ = ("_cursor", "_label", "_opened")

    def __init__(self, opened: _Opened, *, label: str) -> None:
        self._opened = opened
        self._label = label

    def __enter__(self) -> sqlite3.Cursor:
        self._cursor = self._opened.raw.cursor()
        return self._cursor

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cursor.close()
        if error is None:
            return
        self._opened.doomed = True
        if isinstance(error, sqlite3.Error):
            raise named(error, label=self._label) from error


class _Block:
    """A block over a connection, which leaves nothing behind when an interrupt comes just as it begins.

    Args:
        steps: What it does.
    """

    __slots__ = ("_steps",)

    def __init__(self, steps: _Steps) -> None:
        self._steps = steps

    def __enter__(self) -> sqlite3.Cursor:
        try:
            return next(self._steps)
        except BaseException:
            self._steps.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._steps.send(error)
        except StopIteration:
            return


def _identity(path: str | None, *, unknown: tuple[int, int] | None = None) -> tuple[int, int] | None:
    """Tell a file from one that has its path later; None when there is none."""
    if path is None:
        return None
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return unknown  # this process may have given up the right to look
    return found.st_dev, found.st_ino


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
    return SqliteConnection(path, clock=clock, label=label)


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
