"""Stepping a chart by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

import stateward as sw
from stateward.chart.delay import Delayed
from stateward.chart.event import Occurrence
from stateward.errors import DefinitionError, InputRefused, MicrostepLimit, NotExpected, NoTransition, UpdateRefused
from stateward.simulation import Simulation
from tests.charts.one import One
from tests.charts.waiting import Note, waiting
from tests.charts.working import Resume, working


def test_simulation_begins_in_the_initial_state() -> None:
    """No activity runs and no model is needed."""
    simulation = working().simulate()
    assert simulation.at == ("WORKING.PLAN",)
    assert simulation.enabled == ("pause",)


def test_completion_moves_on_with_its_update() -> None:
    """Guards see what the activity would have written."""
    simulation = working().simulate({"trail": []})
    assert simulation.complete() == ("WORKING.ACT",)
    assert simulation.complete() == ("WORKING.REFLECT",)
    assert simulation.complete({"trail": ["reflect"]}) == ("WORKING.PLAN",)


def test_event_and_history_lead_back() -> None:
    """A paused simulation goes on where it was."""
    simulation = working().simulate({"trail": []})
    simulation.complete()
    assert simulation.send("pause") == ("PAUSED",)
    assert simulation.send(Resume(note="go")) == ("WORKING.ACT",)
    assert simulation.data.state["note"] == "go"


def test_typed_event_reaches_its_action() -> None:
    """The action writes what the event says."""
    simulation = waiting().simulate({})
    simulation.send(Note(text="a"))
    assert simulation.data.state["heard"] == ["a"]


@pytest.mark.parametrize("data", [None, {"text": "a", "times": "often"}, {"text": "a", "colour": "red"}, "a"])
def test_an_event_that_does_not_fit_its_type_is_refused(data: object) -> None:
    """As a run refuses it; nothing has changed."""
    simulation = waiting().simulate({})
    before = dict(simulation.data.state)
    with pytest.raises(InputRefused, match="does not fit `Note`"):
        simulation.send(Occurrence(name="note", data=data))
    assert (simulation.data.state, len(simulation.steps)) == (before, 1)


def test_the_fields_of_a_typed_event_are_coerced_as_in_a_run() -> None:
    """The action gets the event as its type has it."""
    simulation = waiting().simulate({})
    simulation.send(Occurrence(name="note", data={"text": "a", "times": "2"}))
    assert simulation.data.state["heard"] == ["a", "a"]


def test_unknown_event_changes_nothing() -> None:
    """It is not handled, and the configuration stays."""
    simulation = waiting().simulate({})
    before = simulation.configuration
    simulation.send("nonsense")
    assert (simulation.configuration, simulation.last.handled) == (before, False)


def test_dead_completion_is_an_error() -> None:
    """No true guard and no default."""
    chart = sw.Chart("dead", One, sw.State("A", do=len, to=[sw.when(lambda s: False, "DONE")]), sw.Final("DONE"))
    with pytest.raises(NoTransition):
        chart.simulate({}).complete()


def test_charts_state_is_a_copy() -> None:
    """The caller's dict is not changed."""
    given = {"trail": []}
    working().simulate(given).complete({"note": "x"})
    assert given == {"trail": []}


def test_an_activity_that_fails_has_ended() -> None:
    """The chart gets the event; without a transition for it nothing moves, and it cannot end again."""
    simulation = working().simulate({"trail": []})
    assert simulation.fail("timeout") == ("WORKING.PLAN",)
    assert [event.name for event in simulation.last.unhandled] == ["timeout"]
    with pytest.raises(NotExpected):
        simulation.complete()


def napping() -> sw.Chart[One]:
    """Two regions work; NAP is left after 30 s, and a minute after the start `late` happens anywhere."""
    nap = sw.State("NAP", on=sw.after(30, "END"))
    left = sw.Superstate("LEFT", sw.State("WORK", do=lambda state: None, to="NAP"), nap, sw.Final("END"))
    right = sw.Superstate("RIGHT", sw.State("WORK", do=lambda state: None, to="END"), sw.Final("END"))
    both = sw.Parallel("BOTH", left, right, to="DONE")
    begin = sw.State("BEGIN", entry=lambda state: Delayed("late", after_s=60), to="BOTH")
    return sw.Chart("napping", One, begin, both, sw.Final("DONE"), on=sw.on("late", "DONE"))


def test_time_passes_only_when_one_waits() -> None:
    """What becomes due on the way is delivered at its moment."""
    simulation = napping().simulate({})
    simulation.complete(path="BOTH.LEFT.WORK")
    assert [(due, event.name) for due, _, event in simulation.pending] == [(30, "after.BOTH.LEFT.NAP.0"), (60, "late")]
    assert (simulation.wait(29), simulation.now) == (("BOTH.LEFT.NAP", "BOTH.RIGHT.WORK"), 29)
    assert simulation.wait(1) == ("BOTH.LEFT.END", "BOTH.RIGHT.WORK")
    assert simulation.wait(60) == ("DONE",)


def test_activities_of_regions_end_one_by_one() -> None:
    """With several running, one says whose has ended."""
    simulation = napping().simulate({})
    assert simulation.activities == ("BOTH.LEFT.WORK", "BOTH.RIGHT.WORK")
    with pytest.raises(NotExpected, match="does not say which"):
        simulation.complete()
    simulation.complete(path="BOTH.RIGHT.WORK")
    assert simulation.activities == ("BOTH.LEFT.WORK",)


def test_time_does_not_pass_backwards() -> None:
    """A negative wait is refused."""
    with pytest.raises(DefinitionError, match="at least 0"):
        napping().simulate({}).wait(-1)


def test_timers_without_delay_that_lead_in_a_circle_are_stopped() -> None:
    """No time passes, and no end is in sight."""
    chart = sw.Chart("c", One, sw.State("A", on=sw.after(0, "B")), sw.State("B", on=sw.after(0, "A")))
    with pytest.raises(MicrostepLimit, match="no time passed"):
        chart.simulate({})


@dataclass
class Clock:
    """A schema that is a class."""

    ticks: int = 0


def test_functions_get_an_instance_where_the_schema_is_a_class() -> None:
    """What guards and actions see is what they see in a run; an instance that is returned is an update."""
    ticking = sw.State("A", on=sw.on("tick", do=lambda state: Clock(state.ticks + 1)), always=sw.when(late, "END"))
    simulation = sw.Chart("c", Clock, ticking, sw.Final("END")).simulate({"ticks": 1})
    assert (simulation.send("tick"), simulation.send("tick")) == (("A",), ("END",))


def late(state: Clock) -> bool:
    """Look at an attribute."""
    return state.ticks > 2


# -- what a run would refuse ------------------------------------------------------------------------------


def nothing(state: One) -> None:
    """End at once."""


def wrong(state: One) -> dict[str, object]:
    return {"number": "many"}


def typed(state: dict[str, object] | None = None) -> Simulation:
    """A chart of one activity and a wait, whose data is checked by its schema."""
    chart = sw.Chart(
        "typed",
        One,
        sw.State("ACT", do=nothing, to="OPEN"),
        sw.State("OPEN", on=[sw.on("bad", do=wrong), sw.on("error.action", "DONE")]),
        sw.Final("DONE"),
    )
    return Simulation(chart.definition, state=state or {}, schema=One)


@pytest.mark.parametrize("event", ["done.state.ACT", "done.activity.ACT", "after.ACT.0"])
def test_completions_and_timers_cannot_be_claimed(event: str) -> None:
    """They come from `complete` and `wait`; nothing moves."""
    simulation = typed()
    for call in (simulation.send, simulation.fail):
        with pytest.raises(NotExpected, match="only the chart itself"):
            call(event)
    assert (simulation.at, simulation.activities) == (("ACT",), ("ACT",))


@pytest.mark.parametrize("update", [{"nobody": 1}, {"number": "many"}, {"messages": [3.5]}])
def test_an_update_that_a_run_refuses_is_refused(update: dict[str, object]) -> None:
    """The activity has not ended then."""
    simulation = typed()
    with pytest.raises(UpdateRefused):
        simulation.complete(update)
    assert (simulation.activities, simulation.data.state) == (("ACT",), {})


def test_a_state_that_a_run_refuses_is_refused() -> None:
    """As an input that does not fit."""
    with pytest.raises(InputRefused, match="number"):
        typed({"number": "many"})


def test_an_update_is_coerced_as_in_a_run() -> None:
    """Guards see the committed form."""
    simulation = typed()
    simulation.complete({"number": "3"})
    assert simulation.data.state["number"] == 3


def test_an_action_s_update_that_does_not_fit_is_its_error() -> None:
    """The kernel makes `error.action` of it."""
    simulation = typed()
    simulation.complete()
    assert simulation.send("bad") == ("DONE",)


# -- what fails has not happened --------------------------------------------------------------------------


def lost() -> Simulation:
    """An activity that may end in a state no `to` leads out of, and so may a timer; both write on the way."""

    def count(state: One) -> dict[str, object]:
        return {"number": state["number"] + 1}

    act = sw.State("ACT", do=nothing, to=[sw.when(many, "LOST", do=count), "OPEN"], on=sw.on("timeout", "LOST"))
    opened = sw.State("OPEN", on=sw.after(10, "LOST", do=count))
    chart = sw.Chart("lost", One, act, opened, sw.State("LOST", entry=count, to=sw.when(lambda state: False, "ACT")))
    return chart.simulate({"number": 1})


def many(state: One) -> bool:
    """Look at what the activity wrote."""
    return state["number"] > 5


@pytest.mark.parametrize("end", [lambda s: s.complete({"number": 9}), lambda s: s.fail("timeout")])
def test_an_end_that_leads_nowhere_has_not_happened(end: Callable[[Simulation], object]) -> None:
    """The activity still runs, without its update, and may end otherwise."""
    simulation = lost()
    with pytest.raises(NoTransition):
        end(simulation)
    assert (simulation.activities, simulation.data.state, len(simulation.steps)) == (("ACT",), {"number": 1}, 1)
    assert simulation.complete({"number": 2}) == ("OPEN",)


def test_a_timer_that_leads_nowhere_has_not_fired() -> None:
    """It stays pending, and what it wrote is taken back."""
    simulation = lost()
    simulation.complete()
    for _ in range(2):
        with pytest.raises(NoTransition):
            simulation.wait(30)
    assert (simulation.at, simulation.now, simulation.data.state) == (("OPEN",), 0, {"number": 1})
    assert [due for due, _, _ in simulation.pending] == [10]
