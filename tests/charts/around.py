"""A LangGraph graph of a user's own, with a chart as one of its nodes."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import stateward as sw
from stateward.run.graph import ChartGraph
from stateward.testing import How, run_graph

CONFIG: Any = {"configurable": {"thread_id": "t"}}
"""The thread of the graph around."""


class Trail(TypedDict, total=False):
    """What both graphs share: an additive key, a plain one, messages."""

    log: Annotated[list[str], operator.add]
    number: int
    went: str
    messages: sw.Messages


class Report(TypedDict, total=False):
    """The keys of a parent that calls things otherwise."""

    lines: Annotated[list[str], operator.add]
    length: int


def inner(name: str = "inner") -> sw.Chart[Trail]:
    """FIRST writes, WAIT waits for `go`, LAST writes again."""
    return sw.Chart(
        name,
        Trail,
        sw.State("FIRST", do=lambda state: {"log": ["first"]}, to="WAIT"),
        sw.State("WAIT", on=[sw.on("go", "LAST")]),
        sw.State("LAST", do=lambda state: {"log": ["last"]}, to="DONE"),
        sw.Final("DONE"),
    )


def writer(name: str) -> ChartGraph:
    """Compile a chart that writes its name and ends."""
    return sw.Chart(name, Trail, sw.State("WRITE", do=lambda s: {"log": [name]}, to="DONE"), sw.Final("DONE")).compile()


def around(node: Any, *, saver: Any = None) -> Any:
    """Put a node between BEFORE and AFTER, which write to the log."""
    builder = StateGraph(Trail)
    builder.add_node("before", lambda state: {"log": ["before"]})
    builder.add_node("chart", node)
    builder.add_node("after", lambda state: {"log": ["after"]})
    builder.add_edge(START, "before")
    builder.add_edge("before", "chart")
    builder.add_edge("chart", "after")
    builder.add_edge("after", END)
    return builder.compile(checkpointer=saver or InMemorySaver())


def report(node: Any) -> Any:
    """Put a node into a graph with other keys."""
    builder = StateGraph(Report)
    builder.add_node("chart", node)
    builder.add_edge(START, "chart")
    builder.add_edge("chart", END)
    return builder.compile(checkpointer=InMemorySaver())


def waiting(how: How) -> Any:
    """Run a graph whose chart waits for `go` then."""
    graph = around(inner().compile())
    run_graph(graph, {"log": ["in"]}, how=how, config=CONFIG)
    return graph


def inside(graph: Any) -> Any:
    """Return the state of the chart in it."""
    return graph.get_state(CONFIG, subgraphs=True).tasks[0].state
