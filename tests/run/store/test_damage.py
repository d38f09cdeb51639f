"""Checkpoints that cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

import stateward as sw
from stateward.errors import CodecError
from stateward.run.store.database import Database
from stateward.run.travel import Timeline
from tests.charts.one import compiled
from tests.run.store.desk import Fresh

DAMAGE = {"memory": "X'fffe00'", "postgresql": "'5'"}


def work(state: Any) -> dict[str, Any]:
    return {"text": "done"}


def damaged(database: Database, column: str, backend: str) -> sw.Session:
    """A session that has run, and one column of its checkpoints overwritten."""
    session = sw.Session("s", compiled(work), database)
    session.start({})
    with database.transaction("s") as cur:
        cur.execute(f"UPDATE checkpoints SET {column} = {DAMAGE[backend]}")
    return session


@pytest.mark.parametrize("column", ["checkpoint", "metadata"])
def test_damaged_checkpoint_is_an_error_that_says_what_to_do(fresh: Fresh, backend: str, column: str) -> None:
    """Whoever reads it."""
    session = damaged(fresh(), column, backend)
    reads = [
        session.outcome,
        lambda: session.start({}),
        lambda: tuple(Timeline(session.graph, database=session.database, session="s")),
        lambda: list(session.database.saver.list({"configurable": {"thread_id": "s"}})),
    ]
    for read in reads:
        with pytest.raises(CodecError, match=r"session `s`.*backup"):
            read()


@pytest.mark.parametrize("backend", ["memory"], indirect=True)
def test_filter_that_is_none_is_not_taken_for_damage(fresh: Fresh) -> None:
    """It is the caller's."""
    with pytest.raises(ValueError, match="filter"):
        fresh().saver.list({"configurable": {"thread_id": "s"}}, filter={"'": 1})
