"""Reading a session without changing it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

import stateward as sw
from stateward.run.load import Loaded, aload_session, load_session
from stateward.run.store.database import Database
from stateward.testing import How
from tests.charts.drive import Driven
from tests.charts.one import compiled

Drive = Callable[..., Driven]


def asking(state: Any) -> dict[str, Any]:
    call: Any = {"name": "look", "args": {}, "id": "c1"}
    return {"messages": [AIMessage("", tool_calls=[call]), HumanMessage("never mind")]}


def says_x(state: Any) -> dict[str, Any]:
    return {"text": "x"}


def nothing(state: Any) -> None:
    """Do nothing."""


@pytest.fixture
def loaded(how: How, database: Database) -> Callable[[sw.Session], Loaded]:
    """Load a session the test's way."""

    def load(session: sw.Session) -> Loaded:
        if how == "sync":
            return load_session(database, session=session.id, graph=session.graph)
        return asyncio.run(aload_session(database, session=session.id, graph=session.graph))

    return load


def test_messages_and_state_are_returned(drive: Drive, loaded: Any) -> None:
    """With where the session stands."""
    driven = drive(compiled(says_x))
    driven.start({"messages": [HumanMessage("hi")]})
    found = loaded(driven.session)
    assert (found.outcome.status, found.values["text"]) == ("completed", "x")
    assert ([each.content for each in found.messages], found.repaired) == (["hi"], {})


def test_dangling_calls_are_answered_and_named(drive: Drive, loaded: Any) -> None:
    """In what is returned; what is stored stays as it is."""
    driven = drive(compiled(asking))
    driven.start({})
    before = driven.checkpoints
    found = loaded(driven.session)
    assert [each.type for each in found.messages] == ["ai", "tool", "human"]
    assert [gap.call for gap in found.repaired["messages"]] == ["c1"]
    assert driven.checkpoints == before


def test_session_that_never_began_is_empty(drive: Drive, loaded: Any) -> None:
    """It is not created by being read."""
    driven = drive(compiled(asking))
    assert (loaded(driven.session).outcome.status, driven.session.row()) == ("new", None)


def test_next_run_begins_with_a_history_that_is_well_paired(drive: Drive, database: Database) -> None:
    """And the audit log says what was added (HAZARDS 17)."""
    driven = drive(compiled(asking))
    driven.start({})
    driven.start({"messages": [HumanMessage("again")]})
    types = [each.type for each in driven.session.outcome().values["messages"]]
    assert types[:4] == ["ai", "tool", "human", "human"]
    told = [row.record for row in database.audit.rows("s1") if row.record["event"] == "repaired"]
    assert [(each["key"], each["calls"]) for each in told] == [("messages", ["c1"])]


def test_calls_at_the_end_of_an_input_are_left_to_the_chart(drive: Drive) -> None:
    """They may be what it is for."""
    driven = drive(compiled(nothing))
    calling = AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "c1"}])
    driven.start({"messages": [HumanMessage("hi"), calling]})
    assert [each.type for each in driven.session.outcome().values["messages"]] == ["human", "ai"]


def test_gap_inside_an_input_is_mended(drive: Drive) -> None:
    """No model is shown it."""
    driven = drive(compiled(nothing))
    calling = AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "c1"}])
    driven.start({"messages": [calling, HumanMessage("hi")]})
    assert [each.type for each in driven.session.outcome().values["messages"]] == ["ai", "tool", "human"]
