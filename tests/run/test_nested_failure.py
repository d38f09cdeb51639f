"""A run inside another graph that has failed stays failed when that graph goes on."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy

import stateward as sw
from stateward.errors import RunError
from stateward.run.graph import ChartGraph
from stateward.testing import How, run_graph
from tests.charts.around import CONFIG, Trail, around, inside


def failing() -> ChartGraph:
    """Compile a chart whose second state fails the first time it is entered."""
    entered: list[int] = []

    def work(state: Trail) -> dict[str, Any]:
        entered.append(1)
        if len(entered) == 1:
            raise KeyError("gone")
        return {"log": ["worked"]}

    first = sw.State("FIRST", do=lambda state: {"log": ["first"]}, to="WORK")
    return sw.Chart("inner", Trail, first, sw.State("WORK", do=work, to="DONE"), sw.Final("DONE")).compile()


def failed(how: How) -> Any:
    """Run a graph whose chart has failed then."""
    graph = around(failing())
    with pytest.raises(KeyError, match="gone"):
        run_graph(graph, {"log": ["in"]}, how=how, config=CONFIG)
    return graph


def test_a_graph_does_not_go_on_past_a_chart_that_failed(how: How) -> None:
    """Again and again it says which state of which node it was, and why."""
    graph = failed(how)
    for _ in range(2):
        with pytest.raises(RunError, match=r"`error.activity`.*gone.*`WORK` of chart `inner` in node `chart`"):
            run_graph(graph, None, how=how, config=CONFIG)
    assert graph.get_state(CONFIG).next == ("chart",)


def test_it_goes_on_from_before_the_failure(how: How) -> None:
    """Time travel to a checkpoint inside is a way out; what was done before is not done again."""
    graph = failed(how)
    final = run_graph(graph, None, how=how, config=inside(graph).parent_config)
    assert final["log"] == ["in", "before", "first", "worked", "after"]


def test_what_the_node_came_to_may_be_said(how: How) -> None:
    """As with any node of a graph that failed."""
    graph = failed(how)
    graph.update_state(CONFIG, {"log": ["by hand"]}, as_node="chart")
    assert run_graph(graph, None, how=how, config=CONFIG)["log"] == ["in", "before", "by hand", "after"]


def test_a_retry_policy_begins_the_chart_anew(how: How) -> None:
    """What it did the first time is not told to the graph around."""
    builder = StateGraph(Trail)
    builder.add_node("chart", failing(), retry_policy=RetryPolicy(initial_interval=0, jitter=False, retry_on=KeyError))
    builder.add_edge(START, "chart")
    graph: Any = builder.compile()
    final = run_graph(graph, {"log": ["in"]}, how=how, config=CONFIG)
    assert final["log"] == ["in", "first", "worked"]
