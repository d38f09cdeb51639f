"""What LangGraph raises to steer a graph by, where an activity lets it out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

import stateward as sw
from stateward.errors import DefinitionError
from tests.charts.drive import Driven

Drive = Callable[..., Driven]


class Case(TypedDict, total=False):
    text: str


def asks(state: Any) -> Any:
    """Ask as a node of LangGraph does."""
    return interrupt("?")


def leaves(state: Any) -> Any:
    """Lead the graph around elsewhere, as a handoff of langgraph-swarm does."""
    return Command(goto="x", graph=Command.PARENT)


def alone(node: Any) -> Any:
    """A plain graph of one node."""
    builder: Any = StateGraph(Case)
    builder.add_node("n", node)
    builder.add_edge(START, "n")
    return builder


def chart(do: Any) -> sw.ChartGraph:
    """A chart of one state, which takes no error."""
    return sw.Chart("c", Case, sw.State("A", do=do, to="DONE"), sw.Final("DONE")).compile()


@pytest.mark.parametrize(
    ("do", "told"),
    [
        (asks, "at A.*restricted tool or wait in a state"),
        (alone(asks).compile(), "at A.*restricted tool or wait in a state"),
        (alone(leaves).compile(), "at A.*Let a transition of the chart lead on"),
    ],
)
def test_what_would_steer_a_graph_is_an_error_that_says_what_to_do(drive: Drive, do: Any, told: str) -> None:
    """The run has failed, and whoever called it reads why."""
    driven = drive(chart(do))
    with pytest.raises(DefinitionError, match=told):
        driven.start({})
    assert driven.session.outcome().status == "failed"


@pytest.mark.parametrize("do", [asks, alone(leaves).compile()])
def test_a_chart_that_is_a_node_does_not_steer_the_graph_around(do: Any) -> None:
    """That would wait for an answer that nobody takes, or go on elsewhere."""
    graph = alone(chart(do)).compile(checkpointer=InMemorySaver())
    with pytest.raises(DefinitionError, match="inside an activity"):
        graph.invoke({}, {"configurable": {"thread_id": "t"}})
