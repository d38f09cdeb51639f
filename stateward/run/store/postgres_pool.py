"""The connections of one process to a PostgreSQL database, and which of them a thread works on."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, LiteralString, cast

import psycopg
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from stateward.errors import CheckpointError, ConnectionLost
from stateward.run.store.per_process import PerProcess
from stateward.run.store.postgres_words import named

POOL = 16
"""How many connections a process holds at most."""
IDLE_S = 10
"""How long a transaction may stand still before the server ends it, in seconds."""
LOCK_S = 30
"""How long a transaction waits for another one of its session, in seconds."""
TAKE_S = 5.0
"""How long work waits for a connection that is free, in seconds."""
_GIVEN: dict[str, Any] = {"autocommit": True, "application_name": "stateward"}

Raw = psycopg.Connection[TupleRow]


class Here(threading.local):
    """The connection a thread works on, and how deep it is inside its transaction."""

    raw: Raw | None = None
    depth = 0
    doomed = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """What one process has: a child that was forked off would read its parent's answers from the same sockets."""

    pool: ConnectionPool[Raw]
    here: Here


class PostgresPool:
    """Connections in autocommit mode, checked and replaced by psycopg's pool.

    Args:
        conninfo: What libpq connects to.
        label: How messages name the database.
    """

    def __init__(self, conninfo: str, *, label: str) -> None:
        self._conninfo = conninfo
        self._label = label
        self._closed = False
        self._opened = PerProcess(self._open)

    @property
    def here(self) -> Here:
        """What this thread works on."""
        return self._opened.get().here

    def take(self, *, within_s: float = TAKE_S) -> Raw:
        """Take a connection; it is to be given back.

        Args:
            within_s: How long to wait for one, in seconds, above 0.

        Raises:
            ConnectionLost: None came free in time.
            CheckpointError: The database is closed.
        """
        try:
            return self._opened.get().pool.getconn(timeout=within_s)
        except PoolTimeout as late:
            raise ConnectionLost(
                f"No connection came free within {within_s:g} s: {late}",
                where=f"`{self._label}`",
                fix="Start the server again, or look whether it takes more connections.",
            ) from late
        except PoolClosed as closed:
            raise CheckpointError(
                "The database is closed", where=f"`{self._label}`", fix="Open it again with `stateward.open`."
            ) from closed

    def give_back(self, raw: Raw) -> None:
        """Give a connection back; one that is broken is thrown away, and another one opened.

        Args:
            raw: From `take`.
        """
        self._opened.get().pool.putconn(raw)

    def connect(self) -> Raw:
        """Open a connection beside the pool; whoever asks closes it.

        Raises:
            ConnectionLost: The server does not answer.
            CheckpointError: It refuses.
        """
        try:
            raw = psycopg.connect(self._conninfo, connect_timeout=int(TAKE_S), **_GIVEN)
            _configure(raw)
        except psycopg.Error as error:
            raise named(error, label=self._label) from error
        return raw

    def close(self) -> None:
        """Close the connections of this process; a second call does nothing."""
        self._closed = True
        if not self._opened.is_inherited:
            self._opened.get().pool.close()

    def _open(self) -> _Opened:
        pool: ConnectionPool[Raw] = ConnectionPool(
            self._conninfo,
            kwargs=_GIVEN,
            configure=_configure,
            min_size=1,
            max_size=POOL,
            open=not self._closed,
            name="stateward",
        )
        return _Opened(pool=pool, here=Here())


def _configure(raw: Raw) -> None:
    """Set what all transactions need; who waited for a lock has to see what was written meanwhile, at any server."""
    settings = (
        f"SET idle_in_transaction_session_timeout = '{IDLE_S}s'; SET lock_timeout = '{LOCK_S}s';"
        " SET default_transaction_isolation = 'read committed'"
    )
    raw.execute(cast("LiteralString", settings), prepare=False)
