"""A step in one statement: it is done as the slow way does it, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from stateward.errors import SessionBusy, StaleFence
from stateward.run.checkpoint import FENCE
from stateward.run.store.database import Database, open_database
from tests.postgres import Server


@pytest.fixture
def database(postgres: Server) -> Iterator[Database]:
    with open_database(postgres.url()) as opened:
        yield opened


def named(fence: int | None, checkpoint: str = "") -> Any:
    """A config of session `s`; LangGraph's type does not know our key."""
    given: dict[str, Any] = {"thread_id": "s", "checkpoint_ns": "", FENCE: fence}
    return {"configurable": given | ({"checkpoint_id": checkpoint} if checkpoint else {})}


def test_the_holder_writes_in_one_go(database: Database) -> None:
    """And reads what it wrote."""
    fence = database.leases.acquire("s").fence
    checkpoint = empty_checkpoint()
    database.saver.put(named(fence), checkpoint, {}, {})
    database.saver.put_writes(named(fence, checkpoint["id"]), [("notes", [1])], "task")
    found = database.saver.get_tuple(named(fence))
    assert found is not None
    assert found.pending_writes == [("task", "notes", [1])]


def test_a_stale_holder_is_told_so(database: Database) -> None:
    """The guard does not say why; the slow way, which is taken then, does."""
    stale = database.leases.acquire("s")
    database.leases.release(stale)
    database.leases.acquire("s")
    with pytest.raises(StaleFence):
        database.saver.put_writes(named(stale.fence, empty_checkpoint()["id"]), [("notes", [1])], "task")
    with pytest.raises(StaleFence):
        database.saver.put(named(stale.fence), empty_checkpoint(), {}, {})
    assert database.saver.get_tuple(named(None)) is None


def test_a_writer_without_a_lease_is_kept_out(database: Database) -> None:
    """While somebody holds the session."""
    database.leases.acquire("s")
    with pytest.raises(SessionBusy):
        database.saver.put(named(None), empty_checkpoint(), {}, {})
