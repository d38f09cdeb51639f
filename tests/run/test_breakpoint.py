"""LangGraph's breakpoints: one that would never stop a run is refused."""

from __future__ import annotations

from typing import Any

import pytest

import stateward as sw
from stateward.errors import InputRefused
from stateward.run.store.database import Database
from stateward.testing import How, run_graph
from tests.charts.beside import compiled_beside, says
from tests.charts.one import compiled

SESSION: Any = {"configurable": {"thread_id": "s1"}}
BOTH = pytest.mark.parametrize("which", ["interrupt_before", "interrupt_after"])


def two() -> Any:
    """Regions, one of which waits after its activity."""
    a = [sw.State("S", do=says("a"), to="W"), sw.State("W", on=sw.on("go", "END"))]
    return compiled_beside(a, [sw.State("S", do=says("b"), to="END")])


@BOTH
@pytest.mark.parametrize("node", ["P.A.S", "P.A.W", "P.B.S"])
def test_state_in_a_region_is_no_breakpoint(how: How, database: Database, which: str, node: str) -> None:
    """It is no step of the graph; nothing is committed."""
    graph = two().attach(database)
    with pytest.raises(InputRefused, match=r"region of `P`.*`__hub__`"):
        run_graph(graph, {}, how=how, config=SESSION, **{which: [node]})
    assert graph.get_state(SESSION).values == {}


@BOTH
def test_breakpoint_of_the_graph_itself_is_refused_too(how: How, which: str) -> None:
    """As LangGraph's `compile` sets it."""
    graph = two().copy({f"{which}_nodes": ["P.A.S"]})
    with pytest.raises(InputRefused, match="__hub__"):
        run_graph(graph, {}, how=how, config=SESSION)


@BOTH
def test_breakpoint_that_is_no_node_is_refused(how: How, which: str) -> None:
    """The error names those there are."""
    with pytest.raises(InputRefused, match=r"no node `NOWHERE`.*WORK\.ACT"):
        run_graph(compiled(says("a")), {}, how=how, config=SESSION, **{which: ["NOWHERE"]})


def test_hub_is_a_breakpoint(how: How, database: Database) -> None:
    """The run goes on where it stopped."""
    graph = two().attach(database)
    run_graph(graph, {}, how=how, config=SESSION, interrupt_before=["__hub__"])
    assert graph.get_state(SESSION).next == ("__hub__",)
    assert sorted(run_graph(graph, None, how=how, config=SESSION)["log"]) == ["a", "b"]


def test_state_in_an_only_region_is_a_breakpoint(how: How, database: Database) -> None:
    """Nothing runs beside it, so that it is a step of its own."""
    graph = compiled_beside([sw.State("S", do=says("a"), to="END")]).attach(database)
    run_graph(graph, {}, how=how, config=SESSION, interrupt_before=["P.A.S"])
    assert graph.get_state(SESSION).next == ("P.A.S",)


@pytest.mark.parametrize("given", ["*", ["WORK.ACT"]])
def test_state_is_a_breakpoint(how: How, database: Database, given: Any) -> None:
    """Or all of them."""
    graph = compiled(says("a")).attach(database)
    run_graph(graph, {}, how=how, config=SESSION, interrupt_before=given)
    assert graph.get_state(SESSION).next == ("WORK.ACT",)
