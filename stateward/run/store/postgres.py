"""PostgreSQL: a pool of connections (`postgres_pool.py`), so that sessions do not wait for one another.

- A transaction begins with its locks, in one round trip: a shared one for the whole database and one of its own for
  its session, or the first one exclusively. They are advisory and belong to the transaction, so a takeover never
  interleaves with a write of the former holder.
- A process that was stopped in the middle of a transaction would keep its locks: the server ends a transaction that
  idles for `IDLE_S`, and the process, when it wakes, finds its connection lost and its fence stale. After a pipeline,
  and `executemany` is one, the server does not count idle time; a session's transaction therefore has `LIMIT_S` in all.
- A step in the middle of a run is a transaction of one statement (`postgres_step.py`), with the same locks.
- A broken connection is thrown away. Blocks that had not begun take another one; those that had are rolled back by the
  server, and their method is done again (`Connection.persist`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Any, LiteralString, TypeVar, cast
from zlib import crc32

import psycopg
from psycopg.rows import DictRow, TupleRow, dict_row

from stateward.errors import CheckpointError, ConnectionLost
from stateward.run.store.clock import Clock
from stateward.run.store.connection import Connection
from stateward.run.store.cursor import Cursor
from stateward.run.store.postgres_pool import Here, PostgresPool, Raw
from stateward.run.store.postgres_step import Guard, Listed
from stateward.run.store.postgres_words import named, worded

LIMIT_S = 25
"""How long a transaction of one session may take in all, in seconds, from PostgreSQL 17; less than `LOCK_S`."""
_LIMITS = 170000
"""The first version of the server that limits transactions."""
_ALL, _ONE, _SHARED = 21335, 21336, 21337
"""First halves of our advisory locks: the whole database, one session, what all sessions share."""

_SPARE_S = 0.5
"""How long work waits for a connection of the pool that may have one of its own, in seconds."""

T = TypeVar("T")


class PostgresConnection(Connection):
    """The connections of one process to a PostgreSQL database.

    Args:
        conninfo: What libpq connects to.
        clock: Where the time comes from.
        label: How messages name the database.
    """

    if_free = " FOR NO KEY UPDATE SKIP LOCKED"

    def __init__(self, conninfo: str, *, clock: Clock, label: str) -> None:
        super().__init__(clock=clock, label=label)
        self.conninfo = conninfo
        self._pool = PostgresPool(conninfo, label=label)

    def transaction(self, session: str = "") -> AbstractContextManager[Cursor]:
        """Begin a transaction, or join this thread's; see `Connection.transaction`."""
        return self._transaction(session)

    def read(self) -> AbstractContextManager[Cursor]:
        """Lend a cursor for reading; see `Connection.read`."""
        return self._read()

    def beside(self) -> AbstractContextManager[Cursor]:
        """Lend a cursor that takes no lock of a session; see `Connection.beside`.

        Those who wait for a session may have taken all connections of the pool: then it has one of its own.
        """
        return self._beside()

    @contextmanager
    def lend(self) -> Generator[Raw]:
        """Lend the bare connection of this thread's transaction, or one in autocommit mode.

        Yields:
            The connection.

        Raises:
            CheckpointError: The database is away, or the block's own statement failed.
        """
        here = self._here
        if here.raw is not None:
            yield here.raw
            return
        try:
            here.raw = self._pool.take()
            yield here.raw
        except psycopg.Error as error:
            raise self._named(error) from error
        finally:
            raw, here.raw = here.raw, None
            if raw is not None:
                self._pool.give_back(raw)

    @contextmanager
    def named_rows(self, *, pipeline: bool) -> Generator[psycopg.Cursor[DictRow]]:
        """Lend a cursor whose rows are dictionaries, as LangGraph's saver and store want them.

        Args:
            pipeline: Whether its statements are sent together; their results are not needed one by one then.

        Yields:
            The cursor.
        """
        with self.lend() as raw:
            if pipeline:
                with raw.pipeline(), raw.cursor(binary=True, row_factory=dict_row) as cur:
                    yield cur
            else:
                with raw.cursor(binary=True, row_factory=dict_row) as cur:
                    yield cur

    @property
    def is_busy(self) -> bool:
        """Whether this thread works on a connection already."""
        return self._here.raw is not None

    def at_once(self, session: str, *, guard: Guard, listed: Listed) -> bool:
        """Store rows of one session in a single statement, which is a transaction of its own.

        Args:
            session: The session.
            guard: What must be true of the session's row.
            listed: The rows.

        Returns:
            Whether the guard was met; nothing was done when it was not.

        Raises:
            CheckpointError: The database is away, or refused the statement; nothing was done.
        """
        with self.lend() as raw, psycopg.RawCursor(raw) as cur:
            statement = listed.statement(guard, locks=_locks(raw.info.server_version))
            given = (_number(session), *guard.parameters, *listed.parameters())
            return cur.execute(statement, given, prepare=True).rowcount == 1

    def once(self, session: str, statement: str, parameters: tuple[object, ...]) -> Any:  # a row, or None
        """Run a single statement under a session's locks; see `Once.row`.

        Args:
            session: The session.
            statement: What writes at most one row.
            parameters: What its `?` stand for.

        Returns:
            The row that it returns, or None.

        Raises:
            CheckpointError: The database is away, or refused the statement; nothing was done.
        """
        with self.lend() as raw:
            sql = _locked(statement, raw.info.server_version)
            return raw.execute(sql, (_number(session), *parameters), prepare=True).fetchone()

    @contextmanager
    def _read(self) -> Generator[Cursor]:
        with self.lend() as raw, raw.cursor() as cur:
            try:
                yield _Words(cur)
            except psycopg.Error as error:
                raise self._named(error) from error

    @contextmanager
    def _transaction(self, session: str) -> Generator[Cursor]:
        here = self._here
        if here.depth:
            with self._joined() as cur:
                yield cur
            return
        with self._begun(session) as raw:
            here.doomed = False
            try:
                with self._joined() as cur:
                    yield cur
                if here.doomed:
                    raise self._swallowed()
                raw.execute("COMMIT")
            except psycopg.Error as error:
                self._roll_back(raw)
                raise self._named(error) from error
            except CheckpointError as error:
                # The server refused something: what the driver had prepared behind it may not be there.
                self._throw_away(raw) if isinstance(error.__cause__, psycopg.Error) else self._roll_back(raw)
                raise
            except BaseException:
                self._roll_back(raw)
                raise

    @contextmanager
    def _begun(self, session: str) -> Generator[Raw]:
        """Take a connection that answers, and begin on it."""
        here = self._here
        if here.raw is not None:
            self._begin(here.raw, session)
            yield here.raw
            return
        try:
            here.raw = self._pool.take()
            while not self._begin(here.raw, session):
                raw, here.raw = here.raw, None
                self._pool.give_back(raw)  # the pool throws a broken one away
                here.raw = self._pool.take()
            yield here.raw
        finally:
            raw, here.raw = here.raw, None
            if raw is not None:
                self._pool.give_back(raw)

    def _begin(self, raw: Raw, session: str) -> bool:
        """Begin with the locks; False when the connection was broken before anything was done on it."""
        statements = "; ".join(("BEGIN", *_opening(session, version=raw.info.server_version)))
        try:
            raw.execute(cast("LiteralString", statements), prepare=False)
        except psycopg.Error as error:
            if raw.broken:
                return False
            self._roll_back(raw)
            raise self._named(error) from error
        except BaseException:  # Ctrl-C, when it may have begun
            self._roll_back(raw)
            raise
        return True

    @contextmanager
    def _joined(self) -> Generator[Cursor]:
        here = self._here
        assert here.raw is not None  # a transaction has its connection
        here.depth += 1
        try:
            with here.raw.cursor() as cur:
                yield _Words(cur)
        except BaseException as error:
            here.doomed = True
            if isinstance(error, psycopg.Error):
                raise self._named(error) from error
            raise
        finally:
            here.depth -= 1

    def alone(self, cur: Cursor, *, name: str) -> None:
        """Take a lock that all sessions share, until the transaction ends."""
        cur.execute("SELECT pg_advisory_xact_lock(?, ?)", (_SHARED, crc32(name.encode()) - 2**31))

    def version(self) -> object:
        """Return the number of the next transaction that writes, of the whole server."""
        with self.read() as cur:
            return cur.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text").fetchone()[0]

    def tables(self) -> frozenset[str]:
        """Return the names of the tables that are there."""
        with self.read() as cur:
            found = cur.execute("SELECT tablename FROM pg_tables WHERE schemaname = ANY (current_schemas(false))")
            return frozenset(row[0] for row in found)

    def dialect(self, statement: str) -> str:
        """Return the statement in PostgreSQL's words."""
        return worded(statement)

    def persist(self, work: Callable[[], T]) -> T:
        """Do work again while its connection is lost; inside a transaction only the outermost work is."""
        return work() if self._here.depth else super().persist(work)

    def close(self) -> None:
        """Close the connections; a second call does nothing."""
        self.closed = True
        self._pool.close()

    @property
    def _here(self) -> Here:
        return self._pool.here

    @contextmanager
    def _beside(self) -> Generator[Cursor]:
        try:
            raw, give_back = self._pool.take(within_s=_SPARE_S), self._pool.give_back
        except ConnectionLost:
            raw, give_back = self._pool.connect(), psycopg.Connection[TupleRow].close
        try:
            with raw.cursor() as cur:
                yield _Words(cur)
        except psycopg.Error as error:
            raise self._named(error) from error
        finally:
            give_back(raw)

    def _throw_away(self, raw: Raw) -> None:
        """End a connection on which a statement failed.

        What was to be prepared behind it was not, and the driver does not know. The pool opens another one.
        """
        raw.close()

    def _roll_back(self, raw: Raw) -> None:
        if not raw.broken and raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            try:
                raw.execute("ROLLBACK")
            except psycopg.Error:
                raw.close()  # the server rolls back what it lost

    def _swallowed(self) -> CheckpointError:
        return CheckpointError(
            "A transaction was rolled back because a block inside it failed",
            where=f"`{self.label}`",
            fix="Let the error of the inner block pass instead of catching it inside the transaction.",
        )

    def _named(self, error: psycopg.Error) -> CheckpointError:
        return named(error, label=self.label)


class _Words:
    """A cursor that takes `?` parameters."""

    def __init__(self, raw: psycopg.Cursor[TupleRow]) -> None:
        self._raw = raw

    @property
    def rowcount(self) -> int:
        return self._raw.rowcount

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Cursor:
        self._raw.execute(_marked(sql) if parameters else cast("LiteralString", sql), parameters or None)
        return self

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> Cursor:
        self._raw.executemany(_marked(sql), list(rows))
        return self

    def fetchone(self) -> Any:
        return self._raw.fetchone()

    def fetchall(self) -> list[Any]:
        return self._raw.fetchall()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._raw)

    def close(self) -> None:
        self._raw.close()


def _opening(session: str, *, version: int) -> tuple[str, ...]:
    """What a transaction begins with: its locks, and how long it may take.

    The limit is set after the locks: who waits for them is limited by `LOCK_S`, and told so.
    """
    if not session:
        return (f"SELECT pg_advisory_xact_lock({_ALL}, 0)",)
    locks = _locking(str(_number(session)))
    return (locks, f"SET LOCAL transaction_timeout = '{LIMIT_S}s'") if version >= _LIMITS else (locks,)


@lru_cache(maxsize=8)
def _locks(version: int) -> str:
    """The same as one query, with the session's number for its parameter."""
    limit = f", set_config('transaction_timeout', '{LIMIT_S}s', true)" if version >= _LIMITS else ""
    return _locking("%s::int4") + limit


@lru_cache(maxsize=64)
def _locked(statement: str, version: int) -> LiteralString:
    """A statement of `Once` behind its locks; what it takes a 1 from makes it wait for them."""
    worded = _marked(statement.format(one="(SELECT 1 FROM locked)"))
    return cast("LiteralString", f"WITH locked AS MATERIALIZED ({_locks(version)}) {worded}")


def _locking(number: str) -> str:
    return f"SELECT pg_advisory_xact_lock_shared({_ALL}, 0), pg_advisory_xact_lock({_ONE}, {number})"


def _number(session: str) -> int:
    return crc32(session.encode(errors="replace")) - 2**31


@lru_cache(maxsize=512)
def _marked(sql: str) -> LiteralString:
    return cast("LiteralString", sql.replace("%", "%%").replace("?", "%s"))
