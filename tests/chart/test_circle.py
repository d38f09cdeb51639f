"""Circles in graphs: components and shortest ways round."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stateward.chart.circle import circles, components
from stateward.chart.compiler import build
from stateward.chart.explore import explore
from stateward.chart.state import State
from stateward.chart.transition import on
from tests.chart.machines.working import working

graphs = st.integers(1, 7).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, size - 1), max_size=3), min_size=size, max_size=size)
)


def reach(successors: list[list[int]], start: int) -> set[int]:
    """Return all nodes that can be reached, the start included."""
    seen, line = {start}, [start]
    while line:
        for ahead in successors[line.pop()]:
            if ahead not in seen:
                seen.add(ahead)
                line.append(ahead)
    return seen


@given(graphs)
def test_nodes_that_reach_each_other_are_one_component(successors: list[list[int]]) -> None:
    """And no others; each node is in one of them."""
    home = {node: place for place, part in enumerate(components(successors)) for node in part}
    reached = [reach(successors, node) for node in range(len(successors))]
    for one in range(len(successors)):
        for other in range(len(successors)):
            assert (home[one] == home[other]) == (other in reached[one] and one in reached[other])


def test_a_circle_is_closed_and_shortest() -> None:
    """PLAN, ACT, REFLECT and back; the pause is not allowed here."""
    (way,) = circles(explore(working()), allowed=lambda edge: edge.cause in ("activity", "settling"))
    assert (way[0].source, [edge.event for edge in way if edge.event]) == (
        way[-1].target,
        [f"done.activity.WORKING.{name}" for name in ("PLAN", "ACT", "REFLECT")],
    )


def test_a_wanted_step_is_in_the_circle() -> None:
    """Of two circles through A the longer one has it."""
    chart = build("two", [State("A", on=[on("x", "A"), on("y", "B")]), State("B", on=[on("z", "A")])])
    (way,) = circles(explore(chart), allowed=lambda edge: True, rather=lambda edge: edge.event == "z")
    assert [edge.event for edge in way] == ["z", "y"]


def test_where_nothing_leads_back_there_is_no_circle() -> None:
    """A row of states."""
    chart = build("row", [State("A", on=[on("x", "B")]), State("B", on=[on("x", "C")]), State("C")])
    assert list(circles(explore(chart), allowed=lambda edge: True)) == []
