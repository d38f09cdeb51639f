"""Setting up a PostgreSQL database, which any number of processes may do at once.

LangGraph's set-up is not safe to race, and builds indexes in a way that waits for every other transaction: a process
that waited for a lock inside one would hold it up for ever. So the lock is asked for again and again instead.

Source: HAZARDS 14; the PostgreSQL manual, CREATE INDEX, "Building indexes concurrently".
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from time import monotonic

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.store.postgres import PostgresStore
from psycopg.rows import DictRow, dict_row
from psycopg.sql import SQL, Identifier

from stateward.errors import CheckpointError
from stateward.run.store.postgres_words import named

SETUP_S = 60.0
"""How long a process waits for the one that sets the database up, in seconds."""
_SETUP = 21338
_PAUSE_S = 0.02

Raw = psycopg.Connection[DictRow]


def set_up(conninfo: str, *, label: str) -> None:
    """Make LangGraph's tables, unless they are there; `schema.prepare` makes ours.

    Args:
        conninfo: What libpq connects to.
        label: How messages name the database.

    Raises:
        CheckpointError: The server cannot be reached, refuses the user, or another process sets it up for too long.
    """
    with connected(conninfo, label=label) as raw:
        if _is_ready(raw):
            return
        _wait_for_turn(raw, label=label)
        PostgresSaver(raw).setup()
        PostgresStore(raw).setup()


def _is_ready(raw: Raw) -> bool:
    return _version(raw, "checkpoint_migrations") == len(PostgresSaver.MIGRATIONS) - 1 and (
        _version(raw, "store_migrations") == len(PostgresStore.MIGRATIONS) - 1
    )


def has_table(raw: Raw, table: str) -> bool:
    """Say whether there is a table.

    Args:
        raw: A connection from `connected`.
        table: The table's name.
    """
    found = raw.execute("SELECT to_regclass(%s) AS found", (table,)).fetchone()
    return found is not None and found["found"] is not None


def _version(raw: Raw, table: str) -> int:
    if not has_table(raw, table):
        return -1
    row = raw.execute(SQL("SELECT max(v) AS v FROM {}").format(Identifier(table))).fetchone()
    return -1 if row is None or row["v"] is None else int(row["v"])


def _wait_for_turn(raw: Raw, *, label: str) -> None:
    until = monotonic() + SETUP_S
    while not _is_mine(raw):
        if monotonic() >= until:
            raise CheckpointError(
                f"Another process has been setting up the database for {SETUP_S:g} s",
                where=f"`{label}`",
                fix="End it, or try again.",
            )
        threading.Event().wait(_PAUSE_S)


def _is_mine(raw: Raw) -> bool:
    row = raw.execute("SELECT pg_try_advisory_lock(%s, 0) AS mine", (_SETUP,)).fetchone()
    return row is not None and bool(row["mine"])


@contextmanager
def connected(conninfo: str, *, label: str) -> Generator[Raw]:
    """Connect to a server outside of any pool.

    Args:
        conninfo: What libpq connects to.
        label: How messages name the database.

    Yields:
        The connection, in autocommit mode; its rows are dictionaries.

    Raises:
        CheckpointError: The server cannot be reached, or refuses the user or a statement.
    """
    try:
        with Raw.connect(
            conninfo, autocommit=True, row_factory=dict_row, connect_timeout=10, application_name="stateward"
        ) as raw:
            yield raw
    except psycopg.Error as error:
        raise named(error, label=label) from error
