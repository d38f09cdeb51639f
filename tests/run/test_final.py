"""What a call returns that nobody streams is what LangGraph's own `invoke` returns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import GraphOutput, Interrupt

from stateward.run.final import final, is_final
from stateward.run.graph import ChartGraph
from stateward.testing import How, run_graph
from tests.charts.one import compiled, one
from tests.charts.waiting import waiting


def told(state: Any) -> Any:
    return {"text": "y"}


GRAPHS: dict[str, Callable[[], ChartGraph]] = {
    "ends": lambda: one(told).compile(checkpointer=InMemorySaver()),
    "waits": lambda: waiting().compile(checkpointer=InMemorySaver()),
    "breaks": lambda: waiting().compile(checkpointer=InMemorySaver()).copy({"interrupt_before_nodes": ["OPEN"]}),
}


def plain(given: Any) -> Any:
    """Values without what no two runs share."""
    return {**given, "__interrupt__": [asked.value for asked in given.get("__interrupt__", ())]}


def langgraphs(graph: ChartGraph, how: How) -> Any:
    """What LangGraph's own method returns, of version 1."""
    config: Any = {"configurable": {"thread_id": "other"}}
    if how == "sync":
        return CompiledStateGraph.invoke(graph, {"text": "x"}, config)
    return asyncio.run(CompiledStateGraph.ainvoke(graph, {"text": "x"}, config))


@pytest.mark.parametrize("name", GRAPHS)
def test_invoke_returns_what_langgraphs_own_returns(how: How, name: str) -> None:
    """The values, with the questions where the run waits, and without any at a breakpoint."""
    graph = GRAPHS[name]()
    values = run_graph(graph, {"text": "x"}, how=how, config={"configurable": {"thread_id": "t"}})
    assert plain(values) == plain(langgraphs(graph, how))
    assert ("__interrupt__" in values) == (name == "waits")


def test_another_stream_is_returned_as_it_is() -> None:
    """Who asks for updates gets a list of them."""
    assert compiled(told).invoke({}, stream_mode="updates") == [{"WORK.ACT": {"text": "y"}}]


@pytest.mark.parametrize("given", [{"stream_mode": "values"}, {"version": "v1"}, {"subgraphs": True}])
def test_who_says_what_is_returned_is_left_to_langgraph(given: Any) -> None:
    """Only a call that says nothing of it is read from one stream."""
    assert (is_final(given), is_final({"durability": "sync"})) == (False, True)


def test_questions_of_a_run_without_values_are_returned_alone() -> None:
    """There is nothing to put them beside."""
    asked = Interrupt(value=1, id="i")
    assert final(GraphOutput(value=None, interrupts=(asked,))) == {"__interrupt__": [asked]}
