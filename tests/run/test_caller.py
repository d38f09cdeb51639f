"""A session that calls its graph."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.errors import UnknownSession
from stateward.run.caller import Caller
from stateward.run.drive import Bridge, Steps, Work, drive_sync
from stateward.run.store.database import Database
from tests.charts.waiting import waiting


@pytest.fixture
def caller(database: Database) -> Caller:
    """A session of nobody yet."""
    return called_by("", database)


def called_by(tenant: str, database: Database) -> Caller:
    config: dict[str, Any] = {"thread_id": "s1", **({"tenant": tenant} if tenant else {})}
    graph = waiting().compile(database=database)
    return Caller(session="s1", graph=graph, database=database, config={"configurable": config}, context=None)


def told(work: Work) -> Any:
    def steps() -> Steps[Any]:
        done: Any = yield work
        return done

    return drive_sync(steps(), bridge=Bridge())


def test_a_call_returns_where_the_session_stands(caller: Caller) -> None:
    """And so does a look at it."""
    outcome = told(caller.calling({"text": "x"}))
    assert (outcome.status, outcome) == ("waiting", caller.outcome())


def test_a_session_that_never_began_has_no_row(caller: Caller) -> None:
    """It stands nowhere."""
    assert (caller.row(), caller.outcome().status) == (None, "new")


def test_a_session_that_somebody_holds_is_not_called(caller: Caller, database: Database) -> None:
    """Who tries is told nothing, instead of being refused."""
    lease = database.leases.acquire("s1")
    assert drive_sync(caller.trying({"text": "x"}), bridge=Bridge()) is None
    database.leases.release(lease)
    assert drive_sync(caller.trying({"text": "x"}), bridge=Bridge()) == caller.outcome()


def test_the_tenant_is_that_of_the_config_before_that_of_the_graph(database: Database) -> None:
    """As in every call of LangGraph's."""
    plain = called_by("", database)
    bound = plain.graph.with_config(configurable={"tenant": "acme"})
    callers = [
        Caller(session="s1", graph=bound, database=database, config=each.config, context=None)
        for each in (plain, called_by("eve", database))
    ]
    assert [plain.tenant, *(one.tenant for one in callers)] == ["", "acme", "eve"]


def test_a_session_of_another_tenant_is_not_there(database: Database) -> None:
    """It has no row, and a look at it is refused."""
    told(called_by("acme", database).calling({"text": "x"}))
    eve = called_by("eve", database)
    assert eve.row() is None
    for attempt in (eve.refuse_stranger, eve.outcome, eve.latest):
        with pytest.raises(UnknownSession):
            attempt()
