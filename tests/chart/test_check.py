"""What is found in a chart before any run."""

from __future__ import annotations

from stateward.chart.check import check
from stateward.chart.compiler import build
from stateward.chart.definition import Definition
from stateward.chart.state import Final, State, Superstate
from stateward.chart.transition import History, on, when
from tests.chart.machines.choice import choice
from tests.chart.machines.regions import regions
from tests.chart.machines.working import needs_more, think, working


def found(chart: Definition) -> list[tuple[str, str]]:
    """Return rule and path of each finding."""
    return [(finding.rule, finding.path) for finding in check(chart)]


def test_a_sound_chart_has_no_findings() -> None:
    """Nothing is reported of charts that are right."""
    assert found(working()) == []
    assert found(regions()) == []


def test_a_state_nothing_leads_to_is_found() -> None:
    """Only the outermost state that cannot be reached is reported."""
    chart = build("lost", [State("A", on=[on("x", "A")]), Superstate("B", State("C"), State("D"))])
    assert found(chart) == [("unreachable", "B")]


def test_a_state_without_a_way_out_is_found_with_a_way_in() -> None:
    """The witness is a shortest way to it."""
    assert found(choice()) == [("dead-end", "FAILED")]
    chart = build("stuck", [State("A", to="B"), State("B", to="C"), State("C", on=[on("x")])])
    assert [finding.witness for finding in check(chart)] == [("A", "B", "C")]


def test_an_activity_after_which_nothing_follows_is_found() -> None:
    """A state with `do` needs `to`, or an event that leads out."""
    assert found(build("a", [State("A", do=think)])) == [("dead-activity", "A")]
    assert found(build("b", [State("A", do=think, on=[on("x", "A")])])) == []


def test_an_end_that_cannot_be_reached_is_found() -> None:
    """Neither the chart nor a superstate with `to` may wait for a final state in vain."""
    inner = Superstate("A", State("B", on=[on("x", "B")]), Final("F"), to="DONE")
    expected = [("unreachable", "A.F"), ("unreachable", "DONE"), ("no-end", ""), ("never-completes", "A")]
    assert found(build("endless", [inner, Final("DONE")])) == expected


def test_a_history_nobody_asks_for_is_found() -> None:
    """A superstate that remembers for nobody is worth a warning."""
    inside = Superstate("A", State("B", on=[on("x", "C")]), history="deep")
    assert found(build("h", [inside, State("C", on=[on("x", "A")])])) == [("unused-history", "A")]
    assert found(build("h", [inside, State("C", on=[on("x", History("A"))])])) == []


def test_a_transition_behind_an_unguarded_one_is_found() -> None:
    """After a bare target in `to` nothing is ever taken."""
    chart = build("s", [State("A", to=["B", when(needs_more, "A")]), Final("B")])
    assert found(chart) == [("shadowed", "A")]
