"""Stepping a chart by hand."""

from __future__ import annotations

import pytest

import stateward as sw
from stateward.errors import NotExpected, NoTransition
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
