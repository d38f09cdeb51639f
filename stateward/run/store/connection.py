"""What the tables need of a database: transactions, reads, the time, and work that outlives a lost connection.

Two databases keep it, `sqlite.py` and `postgres.py`. Rules that hold for both:

- Two transactions that name one session come one after the other, and one that names none waits for all and lets
  nobody in: what was read in a transaction is still true when it commits.
- Nested use joins the outer transaction. When a nested block fails, the whole transaction is rolled back,
  even if the outer block swallows the error: half of a nested block is never committed.
- What is committed survives the death of the process.
- A method marked `persistent` is done again from its beginning when the connection was lost under it. The commit may
  have arrived all the same: such a method takes its time from `now`, which stands still over its tries, and on a
  further try (`repeated`) knows by it what it wrote itself.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from time import monotonic
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from stateward.errors import ConnectionLost
from stateward.run.store.cipher import Clear, TextCipher
from stateward.run.store.clock import Clock
from stateward.run.store.cursor import Cursor

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE_S = 60.0
"""How long work is done again while the database is away, in seconds."""
_PAUSE_S = 0.05


class Connection(ABC):
    """One database, shared by the threads of a process.

    Args:
        clock: Where the time comes from.
        label: How messages name the database.
    """

    may_be_lost = True
    """Whether work may have to be done again because the connection was lost under it."""
    if_free: str = ""
    """What ends a `SELECT` of rows to be written, so that those which somebody else has locked are left out."""

    def __init__(self, *, clock: Clock, label: str) -> None:
        self.clock = clock
        self.label = label
        self.closed = False
        self.cipher: TextCipher = Clear()
        """What seals the columns that hold what is the user's."""
        self._tries = _Tries()

    @abstractmethod
    def transaction(self, session: str = "") -> AbstractContextManager[Cursor]:
        """Keep others out until the block ends: commit, or roll everything back when it raises.

        Args:
            session: The only session whose rows the block reads or writes; empty for the whole database.

        Returns:
            A context manager of a cursor inside the transaction. It raises `CheckpointError` when the
            database is locked, full, read-only, damaged or closed, or when the error of a nested block was
            swallowed.
        """

    @abstractmethod
    def read(self) -> AbstractContextManager[Cursor]:
        """Lend a cursor for reading; inside a transaction it sees what the transaction wrote.

        Returns:
            A context manager of a cursor. It raises `CheckpointError` when the database is damaged or closed.
        """

    @abstractmethod
    def beside(self) -> AbstractContextManager[Cursor]:
        """Lend a cursor that writes single rows without a wait for who is at work on their sessions.

        Each of its statements may be a transaction of its own. Rows are found with `if_free`.

        Returns:
            A context manager of a cursor. It raises `CheckpointError` as `transaction` does.
        """

    @abstractmethod
    def alone(self, cur: Cursor, *, name: str) -> None:
        """Keep other transactions away from something all sessions share, until this one ends.

        Args:
            cur: A cursor in the transaction.
            name: What is shared.
        """

    @abstractmethod
    def version(self) -> object:
        """Return a value that is another one when anybody has written since."""

    @abstractmethod
    def tables(self) -> frozenset[str]:
        """Return the names of the tables that are there."""

    @abstractmethod
    def dialect(self, statement: str) -> str:
        """Return a statement that makes a table, in the words of this database.

        Args:
            statement: In SQLite's words, as `schema.py` has them.
        """

    @abstractmethod
    def close(self) -> None:
        """Close it; a second call does nothing."""

    def now(self) -> float:
        """Return the time, in seconds since the epoch; for a persistent method that of its first try."""
        return self._tries.began if self._tries.count else self.clock.now()

    @property
    def repeated(self) -> bool:
        """Whether a persistent method is tried again, because the connection was lost under it."""
        return self._tries.count > 1

    def persist(self, work: Callable[[], T]) -> T:
        """Do work of one transaction, again and again while its connection is lost.

        Args:
            work: The work; inside a transaction or other such work it is done once, and they are done again.

        Returns:
            What it returns.

        Raises:
            CheckpointError: The database was away for longer than `PATIENCE_S`.
        """
        tries = self._tries
        if tries.count:
            return work()
        until, tries.began = monotonic() + PATIENCE_S, self.clock.now()
        try:
            while True:
                tries.count += 1
                try:
                    return work()
                except ConnectionLost:
                    if monotonic() >= until or self.closed:
                        raise
                threading.Event().wait(_PAUSE_S)
        finally:
            tries.count = 0


class _Tries(threading.local):
    """How often this thread has tried its persistent work."""

    count = 0
    began = 0.0


class Part(Protocol):
    """A part of a database: the journal, the leases and so on."""

    _connection: Connection


S = TypeVar("S", bound=Part)


def persistent(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Do a method again when the connection is lost under it.

    Args:
        method: A method of a part of the database, whose work is one transaction.

    Returns:
        The method.
    """

    @wraps(method)
    def persisting(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        connection = self._connection  # pyright: ignore[reportPrivateUsage]  # a decorator of the parts' own methods
        if not connection.may_be_lost:
            return method(self, *args, **kwargs)
        return connection.persist(lambda: method(self, *args, **kwargs))

    return persisting
