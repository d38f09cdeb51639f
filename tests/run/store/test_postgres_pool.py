"""The connections of a process to PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stateward.errors import CheckpointError, ConnectionLost
from stateward.run.store.postgres_pool import LOCK_S, PostgresPool
from tests.postgres import Server
from tests.run.store.forking import in_child


@pytest.fixture
def pool(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresPool]:
    """One connection."""
    monkeypatch.setattr("stateward.run.store.postgres_pool.POOL", 1)
    opened = PostgresPool(postgres.uri, label="ward")
    yield opened
    opened.close()


def backend(pool: PostgresPool) -> int:
    """The process of the server that serves the pool's connection."""
    raw = pool.take()
    try:
        return raw.info.backend_pid
    finally:
        pool.give_back(raw)


def test_connection_that_does_not_come_free_is_an_error(pool: PostgresPool) -> None:
    """It may come free later."""
    raw = pool.take()
    with pytest.raises(ConnectionLost, match=r"within 0\.01 s"):
        pool.take(within_s=0.01)
    pool.give_back(raw)
    assert backend(pool) == raw.info.backend_pid


def test_connection_beside_the_pool_is_set_up_like_the_others(pool: PostgresPool) -> None:
    """It waits for a lock as long as they do."""
    raw = pool.take()
    with pool.connect() as beside:
        assert beside.execute("SHOW lock_timeout").fetchone() == (f"{LOCK_S}s",)
    pool.give_back(raw)


def test_server_that_is_away_is_named() -> None:
    """For a connection beside the pool, too."""
    away = PostgresPool("postgresql://localhost:1/none", label="ward")
    with pytest.raises(ConnectionLost, match="`ward`"):
        away.connect()
    away.close()


def test_closed_pool_lends_nothing(pool: PostgresPool) -> None:
    """Closing twice is fine, in a child too."""
    pool.close()
    pool.close()
    with pytest.raises(CheckpointError, match="closed"):
        pool.take()
    assert "closed" in in_child(lambda: str(pool.take()))


def test_child_takes_a_connection_of_its_own(pool: PostgresPool) -> None:
    """Its parent's goes on, whatever the child does with its own."""
    mine = backend(pool)
    child = in_child(lambda: f"{backend(pool)} {pool.close()}")
    assert child.endswith(" None")
    assert (child == f"{mine} None", backend(pool)) == (False, mine)
