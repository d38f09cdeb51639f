"""The kernel: what a chart does with events."""

from __future__ import annotations

from copy import deepcopy

import pytest

from stateward.chart.compiler import build
from stateward.chart.event import Occurrence, occurrence_of
from stateward.chart.state import State, Superstate
from stateward.chart.step import PlainData, advance, enabled, start
from stateward.chart.transition import History, on, when
from stateward.errors import MicrostepLimit, NoTransition, UnknownTool
from tests.chart.machines.choice import choice
from tests.chart.machines.nested import nested
from tests.chart.machines.regions import regions
from tests.chart.machines.working import Resume, working
from tests.chart.paths import at, paths, seen


def test_a_start_enters_the_initial_states_and_starts_their_activity() -> None:
    """The first entry goes down to an atomic state; its activity is the shell's to start."""
    chart = working()
    step = start(chart, PlainData())
    assert at(chart, step) == ["WORKING.PLAN"]
    assert paths(chart, step.starts) == ["WORKING.PLAN"]
    assert enabled(chart, step.configuration) == ("pause",)
    assert step.configuration.is_in("WORKING", chart=chart)


def test_the_end_of_an_activity_leads_on() -> None:
    """`to` is taken on `done.activity.<path>`; the new state's entry action has run."""
    chart, data = working(), PlainData()
    step = advance(chart, start(chart, data).configuration, seen("done.activity.WORKING.PLAN"), data)
    assert at(chart, step) == ["WORKING.ACT"]
    assert (step.handled, data.state) == (True, {"n": 1})


def test_history_enters_nothing_that_is_still_active() -> None:
    """Taken from inside, what deep history remembers may lie inside a superstate that is not left."""
    inner = Superstate("IN", State("A", on=on("again", History("OUT", deep=True))))
    chart = build(
        "c", [Superstate("OUT", inner, history="deep", on=on("leave", "AWAY")), State("AWAY", on=on("back", "OUT"))]
    )
    step = start(chart, PlainData())
    for name in ("leave", "back", "again"):
        step = advance(chart, step.configuration, seen(name), PlainData())
    (micro,) = step.microsteps
    assert (paths(chart, micro.exited), paths(chart, micro.entered)) == (["OUT.IN.A"], ["OUT.IN.A"])


def test_history_returns_to_where_it_was_left_and_activations_are_counted() -> None:
    """Pausing in ACT and resuming enters ACT a second time, and starts its activity anew."""
    chart, data = working(), PlainData()
    step = advance(chart, start(chart, data).configuration, seen("done.activity.WORKING.PLAN", "pause"), data)
    assert at(chart, step) == ["PAUSED"]
    step = advance(chart, step.configuration, [occurrence_of(Resume(note="go on"))], data)
    assert at(chart, step) == ["WORKING.ACT"]
    assert paths(chart, step.starts) == ["WORKING.ACT"]
    assert step.configuration.activation(chart.by_path["WORKING.ACT"]) == 2
    assert data.state["note"] == "go on"


def test_a_stale_end_of_an_activity_is_dropped() -> None:
    """If an event before it left the state, the end of its activity means nothing, and is not unhandled."""
    chart, data = working(), PlainData()
    step = advance(chart, start(chart, data).configuration, seen("pause", "done.activity.WORKING.PLAN"), data)
    assert (at(chart, step), step.unhandled) == (["PAUSED"], ())


def test_the_end_of_an_earlier_activation_is_dropped() -> None:
    """A state that was left and entered again has another activity, which has not ended."""
    chart = build("again", [State("A", do=len, to="B", on=[on("again", "A")]), State("B")])
    data = PlainData()
    step = advance(chart, start(chart, data).configuration, seen("again", "done.activity.A"), data)
    assert (at(chart, step), paths(chart, step.starts)) == (["A"], ["A"])


def test_a_final_state_at_the_top_ends_the_chart_with_its_data() -> None:
    """What is given after the end is unhandled."""
    chart, data = working(), PlainData({"n": 5})
    ended = advance(chart, start(chart, PlainData({"stop": True})).configuration, (), data)
    assert ended.final
    step = start(chart, PlainData({"n": 5, "stop": True}))
    assert (step.final, step.output, at(chart, step)) == (True, 5, ["DONE"])
    after = advance(chart, step.configuration, seen("pause"), data)
    assert (after.final, after.unhandled, after.microsteps) == (True, tuple(seen("pause")), ())


def test_guards_are_tried_in_order_and_their_verdicts_kept() -> None:
    """The first true guard wins; what was tested is on record."""
    chart, data = choice(), PlainData({"amount": 5})
    step = advance(chart, start(chart, data).configuration, seen("go"), data)
    assert (step.final, step.output) == (True, 5)
    assert [verdict.passed for verdict in step.verdicts] == [False, True]


def test_no_true_guard_and_no_default_is_an_error_that_changes_nothing() -> None:
    """A completed state that leads nowhere is refused, naming the state; the configuration stands."""
    chart, data = choice(), PlainData({"amount": 50})
    before = start(chart, data).configuration
    kept = deepcopy(before)
    with pytest.raises(NoTransition, match=r"`JOB\.ROUTE` is complete"):
        advance(chart, before, seen("go"), data)
    assert before == kept


def test_a_guard_that_raises_counts_as_false_and_is_an_event() -> None:
    """`error.guard` can be handled; if nothing leads out, the error names what the guard raised."""
    chart = choice()
    data = PlainData({"amount": -1, "forgive": True})
    step = advance(chart, start(chart, data).configuration, seen("go"), data)
    assert at(chart, step) == ["FAILED"]
    data = PlainData({"amount": -1})
    with pytest.raises(NoTransition, match="negative amount"):
        advance(chart, start(chart, data).configuration, seen("go"), data)


def test_an_action_that_raises_ends_its_block_and_is_an_event() -> None:
    """The rest of the block is skipped, the transition is taken, `error.action` tells the story."""

    def wrong(state: dict[str, int]) -> None:
        raise ValueError("no")

    chart = build("wrong", [State("A", on=[on("go", "B", do=[wrong, lambda state: {"x": 1}])]), State("B")])
    data = PlainData()
    step = advance(chart, start(chart, data).configuration, seen("go"), data)
    assert at(chart, step) == ["B"]
    assert data.state == {}
    assert step.unhandled[0].name == "error.action"
    assert step.unhandled[0].data == {"state": "A", "action": wrong.__qualname__, "error": "ValueError: no"}


def test_a_broken_guard_of_an_eventless_transition_is_reported_once() -> None:
    """Reporting it is itself an event, after which the guard is tested again: it must not go on for ever."""
    chart = build("broken", [State("A", always=[when(lambda state: 1 // 0, "B")]), State("B")])
    step = start(chart, PlainData())
    assert [o.name for o in step.unhandled] == ["error.guard"]


def test_our_own_errors_pass_through() -> None:
    """A `StatewardError` of a guard is not made an event."""

    def guard(state: object) -> bool:
        raise UnknownTool("`x` is no tool")

    chart = build("own", [State("A", always=[when(guard, "B")]), State("B")])
    with pytest.raises(UnknownTool):
        start(chart, PlainData())


def test_a_circle_of_eventless_transitions_meets_the_limit() -> None:
    """More microsteps than allowed are refused, saying how many were."""
    chart = build("circle", [State("A", always="B"), State("B", always="A")])
    with pytest.raises(MicrostepLimit, match="within 7 microsteps"):
        start(chart, PlainData(), limit=7)


def test_left_inside_out_and_entered_outside_in() -> None:
    """Exits run innermost first, then the transition's actions, then entries outermost first."""
    chart, data = nested(), PlainData({"log": []})
    step = start(chart, data)
    step = advance(chart, step.configuration, seen("next", "leave", "back"), data)
    expected = ["+A", "+B", "+C", "-C", "next", "+D", "-D", "-B", "-A", "+E", "-E", "+A", "+B", "+D"]
    assert data.state["log"] == expected
    assert at(chart, step) == ["A.B.D"]


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ("stay", ["stay"]),
        ("inside", ["-C", "-B", "+X"]),
        ("outside", ["-C", "-B", "-A", "+A", "+X"]),
        ("again", ["-C", "-B", "-A", "+A", "+B", "+C"]),
    ],
)
def test_transitions_leave_what_they_say(event: str, expected: list[str]) -> None:
    """Targetless leaves nothing, internal keeps its source, external and self transitions leave it."""
    chart, data = nested(), PlainData({"log": []})
    advance(chart, start(chart, data).configuration, seen(event), data)
    assert data.state["log"][3:] == expected  # pyright: ignore[reportIndexIssue]


@pytest.mark.parametrize(("internal", "expected"), [(True, ["A", "B", "C"]), (False, ["A", "B", "A", "C"])])
def test_an_eventless_transition_may_be_internal_too(internal: bool, expected: list[str]) -> None:
    """From a superstate to a state inside it, it then does not leave the superstate (SCXML 3.5, 3.13)."""
    first = when(lambda active: "A.B" in active, "C", internal=internal)
    chart = build("internal", [Superstate("A", State("B"), State("C"), always=first)])
    step = start(chart, PlainData())
    entered = [state for micro in step.microsteps for state in micro.entered if state]
    assert [chart.nodes[state].name for state in entered] == expected


def test_raised_events_queue_behind_the_given_ones() -> None:
    """An event raised by an action is processed after the events that were given."""
    chart = build(
        "queue",
        [
            State("A", on=[on("go", "B", do=lambda state: Occurrence(name="raised"))]),
            State("B", on=[on("raised", "WRONG"), on("given", "C")]),
            State("C", on=[on("raised", "D")]),
            State("D"),
            State("WRONG"),
        ],
    )
    step = advance(chart, start(chart, PlainData()).configuration, seen("go", "given"), PlainData())
    assert at(chart, step) == ["D"]
    assert [microstep.event for microstep in step.microsteps] == ["go", "given", "raised"]


def test_an_unhandled_event_changes_nothing_and_is_returned() -> None:
    """`handled` is false and the configuration is equal."""
    chart = working()
    before = start(chart, PlainData()).configuration
    step = advance(chart, before, seen("nonsense"), PlainData())
    assert (step.handled, step.unhandled) == (False, tuple(seen("nonsense")))
    assert step.configuration == before


def test_inner_transitions_win_over_outer_ones() -> None:
    """A state's own reaction is tried before its superstate's."""
    chart = build("inner", [Superstate("A", State("B", on=[on("x", "C")]), State("C"), on=[on("x", "D")]), State("D")])
    step = advance(chart, start(chart, PlainData()).configuration, seen("x"), PlainData())
    assert at(chart, step) == ["A.C"]


def test_parallel_regions_move_on_their_own_and_complete_together() -> None:
    """An event to one region leaves the other alone; when both are final, the parallel state is complete."""
    chart, data = regions(), PlainData()
    step = advance(chart, start(chart, data).configuration, seen("left"), data)
    assert at(chart, step) == ["P.L.L2", "P.R.R1"]
    step = advance(chart, step.configuration, seen("right"), data)
    assert (step.final, at(chart, step)) == (True, ["OUT"])


def test_transitions_of_two_regions_are_taken_together_and_win_over_the_outer_one() -> None:
    """One event moves both regions in one microstep; the parallel state's own reaction is not tried."""
    chart, data = regions(), PlainData()
    step = advance(chart, start(chart, data).configuration, seen("both"), data)
    assert step.microsteps[0].transitions == (0, 1)
    assert paths(chart, step.microsteps[0].exited) == ["P.R.R1", "P.L.L1"]
    assert step.final
