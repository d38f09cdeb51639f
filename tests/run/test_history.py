"""The history of a session, told without its values."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import UnknownSession
from stateward.run.branch import branches_in
from stateward.run.called import checkpoint_id
from stateward.run.graph import ChartGraph
from stateward.run.history import kept
from stateward.run.snapshot import control_in, written_at
from stateward.run.store.database import Database, open_database
from stateward.run.store.owner import TENANT
from stateward.run.travel import Timeline

AT: Any = {"configurable": {"thread_id": "s1"}}


class Talk(TypedDict, total=False):
    messages: sw.Messages
    log: Annotated[list[str], operator.add]


def answer(state: Talk) -> Talk:
    """Say something of any length."""
    return {"messages": [HumanMessage("hm")], "log": ["hm"]}


def talking() -> sw.Chart[Talk]:
    """Says something in every turn."""
    return sw.Chart("talk", Talk, sw.State("SAY", do=answer, to="WAIT"), sw.State("WAIT", on=[sw.on("more", "SAY")]))


def talked(database: Database, turns: int = 4) -> ChartGraph:
    """A session of so many turns."""
    graph = talking().compile(database=database)
    session = sw.Session("s1", graph, database)
    session.start({"messages": [("user", "hi")]})
    for _ in range(turns):
        session.resume("more")
    return graph


@pytest.fixture(params=["memory", "sealed", "postgresql"])
def kind(request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database of each kind that lays checkpoints out in its own way."""
    url = request.getfixturevalue("postgres").url() if request.param == "postgresql" else "memory:"
    with open_database(url, keys={"k1": b"1" * 32} if request.param == "sealed" else None) as opened:
        yield opened


def test_it_tells_what_the_snapshots_of_langgraph_tell(kind: Database) -> None:
    """For every checkpoint of every branch."""
    graph = talked(kind)
    Timeline(graph, database=kind, session="s1").fork(3)
    found = [(one.id, one.step, one.at_s, one.control) for one in kept(graph, AT)]
    assert found == [
        (checkpoint_id(one.config), (one.metadata or {}).get("step"), written_at(one), control_in(one))
        for one in graph.get_state_history(AT)
    ]
    assert len(branches_in(found[0][3], head=found[0][0])) == 2


@pytest.mark.parametrize("turns", [2, 8])
def test_no_value_is_put_together_to_tell_the_steps(turns: int, database: Database, monkeypatch: Any) -> None:
    """And only those of one checkpoint to look at it, however long the session is."""
    graph, saver, asked = talked(database, turns), database.saver, list[Any]()
    past, read = Timeline(graph, database=database, session="s1"), saver.get_delta_channel_history

    def counted(**given: Any) -> Any:
        asked.append(given)
        return read(**given)

    monkeypatch.setattr(saver, "get_delta_channel_history", counted)
    assert len(past.rows) == 2 * turns + 2
    assert asked == []
    past.at(3)
    assert len(asked) <= 1


def test_a_saver_of_somebody_else_is_listed_as_it_is(database: Database) -> None:
    """It has its own way to store values."""
    graph = talking().compile(checkpointer=InMemorySaver(), database=database)
    graph.invoke({"messages": [("user", "hi")]}, AT)
    assert [one.step for one in kept(graph, AT)] == [1, 0, -1]


def test_another_tenant_is_told_nothing(database: Database) -> None:
    """Named in the config, or bound to the graph."""
    graph = talking().compile(database=database)
    sw.Session("s1", graph, database, tenant="acme").start({})
    assert kept(graph.with_config(configurable={TENANT: "acme"}), AT)
    with pytest.raises(UnknownSession):
        kept(graph.with_config(configurable={TENANT: "evil"}), AT)
