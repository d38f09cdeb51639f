"""A single statement that writes is a transaction of its own, under the session's locks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late

import pytest

from stateward.run.store.database import Database, open_database
from stateward.run.store.once import Once
from tests.postgres import Server
from tests.run.store.desk import Fresh

NEW = (
    "INSERT INTO stateward_sessions (id, created_at, updated_at, fence) VALUES (?, 0, 0, {one})"
    " ON CONFLICT (id) DO NOTHING RETURNING fence"
)


def once(database: Database) -> Once:
    return Once(database.leases._connection)  # pyright: ignore[reportPrivateUsage]


def test_a_statement_tells_what_it_wrote(fresh: Fresh) -> None:
    """And that it wrote nothing."""
    database = fresh()
    told = [once(database).row("s", NEW, ("s",)) for _ in range(2)]
    assert (told, database.sessions.get("s").fence) == ([(1,), None], 1)


def test_a_statement_waits_for_who_is_inside_a_transaction_of_its_session(postgres: Server) -> None:
    """Nobody else does."""
    place = postgres.url()
    with open_database(place) as database, open_database(place) as other, ThreadPoolExecutor(2) as pool:
        with other.transaction("s"):
            late = pool.submit(once(database).row, "s", NEW, ("s",))
            assert pool.submit(once(database).row, "t", NEW, ("t",)).result(timeout=60) == (1,)
            with pytest.raises(Late):
                late.result(timeout=0.05)
        assert late.result(timeout=60) == (1,)
