"""A worker that was forked off when its parent had run sessions already, as a preloading server does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.run.registry import Registry
from stateward.run.store.database import Database
from stateward.testing import How
from tests.charts.one import compiled
from tests.postgres import Server
from tests.run.store.forking import in_child
from tests.run.test_registry import live

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Any) -> str:
    """A database that another process can reach."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'forks.db'}"
    server: Server = request.getfixturevalue("postgres")
    return server.url()


def work(state: Any) -> dict[str, Any]:
    return {"text": "done"}


def ran(database: Database, session: str, how: How) -> str:
    """Run a session to its end."""
    mine = sw.Session(session, compiled(work), database)
    return (mine.start({}) if how == "sync" else asyncio.run(mine.astart({}))).status


def test_sessions_run_in_a_child_and_in_its_parent(database: Database, how: How) -> None:
    """Each over connections and threads of its own, one after the other and again."""
    before = ran(database, "parent", how), ran(database, "parent2", "async")
    children = [in_child(lambda no=no: ran(database, f"child{no}", how)) for no in range(2)]
    assert (*before, *children, ran(database, "after", how)) == ("completed",) * 5
    assert len(database.sessions.list()) == 5


def test_child_sees_no_calls_of_its_parent() -> None:
    """They run in threads that did not come along."""
    registry = Registry(list[Any])
    registry.enter(live())
    assert in_child(lambda: f"{registry.list()} {registry.looker}") == "() None"
    registry.close()


def test_child_can_close_its_database(database: Database) -> None:
    """Whether it used it or not; its parent goes on."""
    ran(database, "parent", "async")
    closing: list[Callable[[], str]] = [
        lambda: str(database.close()),
        lambda: f"{ran(database, 'child', 'async')} {database.close()}",
    ]
    assert [in_child(close) for close in closing] == ["None", "completed None"]
    assert ran(database, "after", "async") == "completed"
