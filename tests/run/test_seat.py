"""A session's graph is over the session's database, or nothing of it runs."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import stateward as sw
from stateward.errors import DefinitionError, InputRefused
from stateward.run.store.database import Database
from stateward.testing import How
from stateward.waking import wake
from tests.charts.drive import Driven
from tests.charts.one import one
from tests.charts.timed import nap
from tests.charts.waiting import waiting


def test_a_graph_without_a_checkpointer_is_attached(how: How, database: Database) -> None:
    """The session runs, and is found in its database."""
    driven = Driven(sw.Session("s", waiting().compile(), database), how)
    assert driven.start({}).status == "waiting"
    assert driven.tell("end").taken
    assert database.sessions.get("s").status == "completed"


def test_a_graph_of_another_database_is_refused_before_anything_runs(database: Database) -> None:
    """Its sessions are elsewhere; the message says where, and what to do."""
    ran: list[int] = []

    def act(state: Any) -> None:
        ran.append(1)

    with sw.open("memory:") as other:
        graph = one(act).compile(database=other)
        with pytest.raises(DefinitionError, match=r"attach\(database\)"):
            sw.Session("s", graph, database)
    assert ran == []


def test_a_graph_with_a_foreign_saver_is_refused(database: Database) -> None:
    """Its tables are not in this database, so an event would be posted where nobody looks."""
    with pytest.raises(DefinitionError, match="InMemorySaver"):
        sw.Session("s", waiting().compile(checkpointer=InMemorySaver()), database)


def test_waking_attaches_as_well(database: Database) -> None:
    """Or it would run an activity and then find no checkpointer."""
    sw.Session("s", nap().compile(), database).start({"log": []})
    database.clock.advance(60)  # pyright: ignore[reportAttributeAccessIssue]  # the manual clock of the fixture
    assert [one.error for one in wake(nap().compile(), database)] == [""]


@pytest.mark.parametrize("id", ["", None, 3])
def test_a_session_has_an_id(id: Any, database: Database) -> None:
    """A text that is not empty."""
    with pytest.raises(InputRefused, match="id is a text"):
        sw.Session(id, waiting().compile(), database)
