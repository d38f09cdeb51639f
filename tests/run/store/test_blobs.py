"""Large results by reference: stored once, read whole, and never confused with a result that looks like a reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.errors import CheckpointError
from stateward.run.store.blobs import BLOB_BYTES
from stateward.run.store.database import Database
from stateward.testing import How
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.replayed import same

Drive = Callable[..., Driven]


def fetched(drive: Drive, page: Any) -> Driven:
    """A session whose activity fetches a page twice."""

    @sw.tool(effect="pure")
    def fetch(number: int) -> Any:
        """Fetch a page."""
        return page

    async def both(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("fetch", number=number)).value == page for number in (1, 2)]}

    driven = drive(compiled(both, box=[fetch]))
    assert driven.start({}).values["log"] == [True, True]
    return driven


def rows(database: Database, table: str) -> list[Any]:
    with database.read() as cur:
        column = "data" if table == "stateward_blobs" else "result"
        return [row[0] for row in cur.execute(f"SELECT {column} FROM {table}").fetchall()]


def test_a_large_result_is_stored_once_and_read_whole(drive: Drive, database: Database) -> None:
    """The journal's rows hold a reference; whoever reads the journal sees the result."""
    page = {"text": "x" * BLOB_BYTES}
    driven = fetched(drive, page)
    assert len(rows(database, "stateward_blobs")) == 1
    assert all(len(result) < 200 for result in rows(database, "stateward_journal"))
    assert [entry.result for entry in database.journal.entries("s1")] == [page, page]
    assert same(driven)


def test_a_small_result_stays_in_its_row(drive: Drive, database: Database) -> None:
    """As ever."""
    fetched(drive, {"text": "x"})
    assert rows(database, "stateward_blobs") == []


def test_a_result_that_looks_like_a_reference_is_a_result(drive: Drive, database: Database) -> None:
    """It cannot reach another one."""
    fetched(drive, {"$blob": "0" * 64, "bytes": 1})
    assert len(rows(database, "stateward_blobs")) == 1


def test_a_result_that_is_gone_is_an_error_that_names_the_session(drive: Drive, database: Database) -> None:
    """Nothing else is put in its place."""
    fetched(drive, "x" * BLOB_BYTES)
    with database.transaction() as cur:
        cur.execute("DELETE FROM stateward_blobs")
    with pytest.raises(CheckpointError, match="of session `s1` is gone"):
        database.journal.entries("s1")


@pytest.mark.parametrize("least", [1, 100])
def test_the_limit_is_the_databases(least: int, how: How) -> None:
    """Who opens it says above how many bytes a result goes by reference."""
    with sw.open("memory:", blob_bytes=least) as database:

        def make(graph: Any) -> Driven:
            return Driven(sw.Session("s1", graph.attach(database), database), how)

        fetched(make, "x" * 50)
        assert len(rows(database, "stateward_blobs")) == (least < 50)


@pytest.mark.parametrize("given", [0, -1, 1.5, True, "64k", None])
def test_a_limit_that_is_none_opens_nothing(given: Any) -> None:
    """The message says what would be one."""
    with pytest.raises(CheckpointError, match=r"`blob_bytes` is .*at least 1"):
        sw.open("memory:", blob_bytes=given)
