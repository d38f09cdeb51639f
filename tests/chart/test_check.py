"""What is found in a chart before any run, whatever its policies."""

from __future__ import annotations

from typing import Any

from stateward.chart.check import check
from stateward.chart.compiler import build
from stateward.chart.definition import Definition
from stateward.chart.finding import Finding
from stateward.chart.state import Final, Parallel, State, Superstate
from stateward.chart.transition import History, after, on, when
from tests.chart.machines.choice import choice
from tests.chart.machines.nested import nested
from tests.chart.machines.regions import regions
from tests.chart.machines.working import count, needs_more, said_stop, think, working


def found(chart: Definition) -> list[tuple[str, str]]:
    """Return rule and path of each finding."""
    return [(finding.rule, finding.path) for finding in check(chart)]


def way(finding: Finding) -> list[str]:
    """Return the witness as a person reads it."""
    return [str(hop) for hop in finding.witness]


def only(rule: str, chart: Definition) -> Finding:
    """Return the one finding of a rule."""
    (finding,) = [finding for finding in check(chart) if finding.rule == rule]
    return finding


def test_a_sound_chart_has_no_findings() -> None:
    """Nothing is reported of charts that are right."""
    assert found(working()) == []
    assert found(regions()) == []
    assert found(nested()) == []


def test_a_state_nothing_leads_to_is_found() -> None:
    """Only the outermost state that cannot be reached is reported."""
    chart = build("lost", [State("A", on=[on("x", "A")]), Superstate("B", State("C"), State("D"))])
    assert found(chart) == [("unreachable", "B")]


def test_a_state_without_a_way_out_is_found_with_a_way_in() -> None:
    """The witness is a shortest way to it, with the guards it assumes."""
    chart = build("stuck", [State("A", to=[when(needs_more, "B"), "A2"]), State("A2", on=[on("x", "B")]), State("B")])
    assert way(only("dead-end", chart)) == ["start [needs_more] -> B"]
    assert found(choice()) == [("dead-end", "FAILED"), ("no-default", "JOB.ROUTE")]


def test_an_activity_after_which_nothing_follows_is_found() -> None:
    """A state with `do` needs `to`, or an event that leads out."""
    assert found(build("a", [State("A", do=think)])) == [("dead-activity", "A")]
    assert found(build("b", [State("A", do=think, on=[on("x", "A")])])) == []


def test_time_leads_out_of_a_state() -> None:
    """A timer may be due whenever its state is active."""
    assert found(build("a", [State("A", on=[after(5, "B")]), Final("B")])) == []


def test_an_end_that_cannot_be_reached_is_found() -> None:
    """Neither the chart nor a superstate with `to` may wait for a final state in vain."""
    inner = Superstate("A", State("B", on=[on("x", "B")]), Final("F"), to="DONE")
    expected = [("unreachable", "A.F"), ("unreachable", "DONE"), ("no-end", ""), ("never-completes", "A")]
    assert found(build("endless", [inner, Final("DONE")])) == expected


def test_a_join_that_never_comes_is_found() -> None:
    """A region that is a plain state is never complete."""
    both = Parallel("P", Superstate("L", State("A", on=[on("x", "E")]), Final("E")), State("R"), to="DONE")
    chart = build("join", [both, Final("DONE")], on=[on("stop", "DONE")])
    assert found(chart) == [("never-completes", "P")]


def test_regions_that_come_to_stand_are_found() -> None:
    """The right region waits for the left one to complete, which it may have missed."""
    left = Superstate("L", State("A", on=[on("x", "E")]), Final("E"))
    right = Superstate("R", State("B", on=[on("y", "C")]), State("C", on=[on("done.state.P.L", "E")]), Final("E"))
    finding = only("deadlock", build("late", [Parallel("P", left, right, to="DONE"), Final("DONE")]))
    assert finding.path == "P"
    assert way(finding) == ["start -> P.L.A, P.R.B", "x -> P.L.E, P.R.B", "y -> P.L.E, P.R.C"]


def test_a_circle_without_an_end_is_a_trap() -> None:
    """The chart could have ended, and now it cannot."""
    there, back = State("B", on=[on("x", "C")]), State("C", on=[on("x", "B")])
    chart = build("trap", [State("A", on=[on("end", "DONE"), on("x", "B")]), there, back, Final("DONE")])
    assert found(chart) == [("trap", "B")]


def test_a_step_that_goes_round_for_ever_is_found() -> None:
    """Two eventless transitions with one guard, which no action can change."""
    chart = build("round", [State("A", always=[when(said_stop, "B")]), State("B", always=[when(said_stop, "A")])])
    assert ("endless", "B") in found(chart)


def test_completions_that_bring_about_more_of_them_are_found() -> None:
    """Each of three leads back to where all three come from: the queue only grows, and no standing comes twice."""
    both = Parallel("P", Superstate("L", Final("E")), Superstate("R", Final("E")))
    assert only("endless", build("growing", [both], on=[on("done.state", "P")])).path == "P.R.E"


def test_an_action_may_end_a_circle_of_eventless_transitions() -> None:
    """What the guard says next is not known, so it is no finding; `fuse.microsteps` bounds it."""
    there = State("A", always=[when(said_stop, "B", do=count)], on=[on("x", "B")])
    assert found(build("round", [there, State("B", always=[when(said_stop, "A", do=count)], on=[on("x", "A")])])) == []


def test_a_completion_without_a_default_is_found() -> None:
    """If all guards are false, the run fails."""
    chart = build("gap", [State("A", do=think, to=[when(needs_more, "A")], on=[on("x", "B")]), Final("B")])
    assert way(only("no-default", chart)) == ["start -> A", "A ends [not needs_more] -> the run fails"]


def test_a_history_nobody_asks_for_is_found() -> None:
    """A superstate that remembers for nobody is worth a warning."""
    inside = Superstate("A", State("B", on=[on("x", "C")]), history="deep")
    assert found(build("h", [inside, State("C", on=[on("x", "A")])])) == [("unused-history", "A")]
    assert found(build("h", [inside, State("C", on=[on("x", History("A"))])])) == []


def test_a_history_that_is_asked_too_early_is_found() -> None:
    """The superstate cannot have been left when its history is asked."""
    inside = Superstate("A", State("B", on=[on("x", "DONE")]), history="deep")
    chart = build("h", [State("C", on=[on("x", History("A"))]), inside, Final("DONE")])
    assert found(chart) == [("unset-history", "C")]


def test_a_transition_behind_an_unguarded_one_is_found() -> None:
    """After a bare target in `to` nothing is ever taken, nor after an event that takes in another."""
    chart = build("s", [State("A", to=["B", when(needs_more, "A")]), Final("B")])
    assert found(chart) == [("shadowed", "A")]
    chart = build("s", [State("A", on=[on("x", "B"), on("x.y", "A", when=needs_more)]), Final("B")])
    assert found(chart) == [("shadowed", "A")]


def test_a_transition_behind_the_same_guard_is_found() -> None:
    """It says the same both times."""
    chart = build("s", [State("A", on=[on("x", "B", when=needs_more), on("x", "A", when=needs_more)]), Final("B")])
    assert found(chart) == [("shadowed", "A")]


def test_a_transition_that_inner_states_always_overtake_is_found() -> None:
    """The superstate's own reaction is never taken, so its guard is never asked."""
    inside = Superstate("S", State("A", on=[on("x", "DONE")]), on=[on("x", "A", when=needs_more)])
    finding = only("never-taken", build("over", [inside, Final("DONE")]))
    assert finding.path == "S"
    assert "guard `needs_more` is never asked" in finding.message


def test_an_event_that_nothing_raises_is_found() -> None:
    """Completions, contracts and timeouts have known sources; a bare event may come from outside."""
    reactions = [on("done.state.B", "B"), on("error.contract", "B"), on("timeout", "B"), on("call", "B")]
    chart = build("silent", [State("A", do=think, on=reactions), State("B", on=[on("x", "A")])])
    assert found(chart) == [("never-raised", "A")] * 3


def test_a_question_expires_only_where_one_is_asked() -> None:
    """The finding says what the state would have to declare."""
    late = [on("ask.expired", "B")]
    finding = only("never-raised", build("quiet", [State("A", do=think, to="B", on=late), Final("B")]))
    assert "asks=True" in finding.message
    assert found(build("asking", [State("A", do=think, asks=True, to="B", on=late), Final("B")])) == []


def test_what_is_done_about_all_that_may_go_wrong_is_no_mistake() -> None:
    """The same action and target for `error`, which can be, make a note of `timeout`, which cannot."""
    helped: Any = count
    listed = [on("error", "B", do=helped), on("timeout", "B", do=helped), on("error.contract", "B")]
    chart = build("listed", [State("A", do=think, on=listed), Final("B")])
    told = {(finding.severity, "`timeout`" in finding.message) for finding in check(chart)}
    assert told == {("note", True), ("warning", False)}


def test_regions_that_exclude_each_other_are_found() -> None:
    """Both answer `x` and leave P: the first in document order is taken."""
    left, right = State("L", on=[on("x", "A")]), State("R", on=[on("x", "B"), on("y", "B")])
    finding = only("race", build("race", [Parallel("P", left, right), Final("A"), Final("B")]))
    assert "`P.L -> A` and `P.R -> B on x`" in finding.message


def test_more_configurations_than_asked_for_are_told() -> None:
    """The coarser graph still finds what cannot be reached, and says that it is coarser."""
    rules = {(finding.rule, finding.severity) for finding in check(regions(), bound=1)}
    assert rules == {("bound", "note")}
