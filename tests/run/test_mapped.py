"""A chart in a graph with other keys."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.types import Command

from stateward.errors import DefinitionError
from stateward.testing import How, run_graph
from tests.charts.around import inner, report, writer

CONFIG: Any = {"configurable": {"thread_id": "t"}}


def test_renamed_keys_count_once(how: How) -> None:
    """An additive key under another name in the parent is told update by update."""
    graph = report(writer("x").mapped(input={"log": "lines"}, output={"log": "lines"}))
    assert run_graph(graph, {"lines": ["in"]}, how=how, config=CONFIG)["lines"] == ["in", "x"]


def test_a_function_maps_what_goes_in(how: How) -> None:
    """It gets the parent's state."""
    node = writer("x").mapped(input=lambda state: {"log": state["lines"] * 2}, output=lambda end: {"lines": end["log"]})
    assert run_graph(report(node), {"lines": ["a"]}, how=how, config=CONFIG)["lines"] == ["a", "a", "a", "x"]


def test_a_function_maps_what_comes_out(how: How) -> None:
    """It gets the chart's whole state at its end."""
    node = writer("x").mapped(input={"log": "lines"}, output=lambda end: {"length": len(end["log"])})
    assert run_graph(report(node), {"lines": ["a"]}, how=how, config=CONFIG)["length"] == 2


def test_keys_that_are_not_mapped_stay_inside(how: How) -> None:
    """The parent hears of nothing it did not ask for."""
    graph = report(writer("x").mapped(input={}, output={}))
    assert run_graph(graph, {"lines": ["a"]}, how=how, config=CONFIG) == {"lines": ["a"]}


def test_the_chart_inside_is_seen(how: How) -> None:
    """Its wait is the parent's interrupt, `get_state` finds it, and a resume reaches it."""
    graph = report(inner().compile().mapped(input={"log": "lines"}, output={"log": "lines"}))
    run_graph(graph, {"lines": ["in"]}, how=how, config=CONFIG)
    assert graph.get_state(CONFIG, subgraphs=True).tasks[0].state.next == ("WAIT",)
    final = run_graph(graph, Command(resume="go"), how=how, config=CONFIG)
    assert final["lines"] == ["in", "first", "last"]


def test_a_key_the_chart_does_not_have_is_refused() -> None:
    """The error names it and the keys there are."""
    with pytest.raises(DefinitionError, match=r"`nothing`.*\n?.*log"):
        writer("x").mapped(input={"nothing": "lines"}, output={})
