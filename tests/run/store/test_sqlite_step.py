"""What belongs to a session without changing its row is one statement, which asks for the fence itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from pydantic import BaseModel

from stateward.errors import SessionBusy, StaleFence
from stateward.run.checkpoint import FENCE
from stateward.run.store.database import Database, open_database
from stateward.run.store.sqlite_step import MOST
from tests.run.store.desk import raw, url

ASKED = [("__interrupt__", "?")]
KEYS = {"k1": b"1" * 32}


class Note(BaseModel):
    """A type of the user's."""

    text: str


@pytest.fixture(params=[None, KEYS], ids=["clear", "encrypted"])
def database(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Database]:
    """A file, in clear and encrypted."""
    with open_database(url(tmp_path), keys=request.param) as opened:
        yield opened


def named(fence: int | None, checkpoint: str = "") -> Any:
    """A config of session `s`; LangGraph's type does not know our key."""
    given: dict[str, Any] = {"thread_id": "s", "checkpoint_ns": "", FENCE: fence}
    return {"configurable": given | ({"checkpoint_id": checkpoint} if checkpoint else {})}


def said(database: Database, work: Callable[[], object]) -> list[str]:
    """Return the first words of the statements that work runs and that write."""
    heard: list[str] = []
    raw(database).set_trace_callback(heard.append)
    work()
    raw(database).set_trace_callback(None)
    return [each.split()[0] for each in heard if not each.startswith("SELECT")]


def first(database: Database, fence: int) -> str:
    """Store a session's first checkpoint."""
    checkpoint = empty_checkpoint()
    database.saver.put(named(fence), checkpoint, {}, {})
    return checkpoint["id"]


def found(database: Database, fence: int | None = None) -> list[Any]:
    """Return the writes of the session's latest checkpoint."""
    latest = database.saver.get_tuple(named(fence))
    return [] if latest is None else [write[1:] for write in latest.pending_writes or ()]


def test_an_input_and_a_question_are_a_statement_each(database: Database) -> None:
    """Neither changes the session's row."""
    fence = database.leases.acquire("s").fence
    checkpoint: list[str] = []
    given = said(database, lambda: checkpoint.append(first(database, fence)))
    asked = said(database, lambda: database.saver.put_writes(named(fence, checkpoint[0]), ASKED, "t"))
    assert (given, asked, found(database)) == (["INSERT"], ["INSERT"], ASKED)


@pytest.mark.parametrize(("fence", "error"), [(9, StaleFence), (None, SessionBusy)])
def test_a_writer_that_does_not_hold_the_session_stores_nothing(
    fence: int | None, error: type[Exception], database: Database
) -> None:
    """It is told so."""
    held = database.leases.acquire("s").fence
    checkpoint = first(database, held)
    with pytest.raises(error):
        database.saver.put_writes(named(fence, checkpoint), ASKED, "t")
    with pytest.raises(error):
        database.saver.put(named(fence, checkpoint), empty_checkpoint(), {}, {})
    assert found(database, held) == []


@pytest.mark.parametrize("count", [0, 1, 2, MOST, MOST + 1])
@pytest.mark.parametrize("channel", ["notes", "__error__"])
def test_any_number_of_writes_is_stored(channel: str, count: int, database: Database) -> None:
    """In one statement, or as in any transaction when they are many; the last of a special channel stands."""
    fence = database.leases.acquire("s").fence
    checkpoint = first(database, fence)
    writes = [(channel, number) for number in range(count)]
    database.saver.put_writes(named(fence, checkpoint), writes, "t")
    assert found(database) == (writes if channel == "notes" else writes[-1:])


def test_a_copy_of_the_saver_stores_what_its_own_list_allows(tmp_path: Path) -> None:
    """Graphs make one for their types."""
    with open_database(url(tmp_path)) as database:
        fence = database.leases.acquire("s").fence
        checkpoint = first(database, fence)
        saver = database.saver.with_allowlist({(Note.__module__, Note.__name__)})
        saver.put_writes(named(fence, checkpoint), [("notes", Note(text="x"))], "t")
        latest = saver.get_tuple(named(fence))
    assert latest is not None
    assert latest.pending_writes == [("t", "notes", Note(text="x"))]
