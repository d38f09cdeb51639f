"""What a walk through a chart sees and refuses, step by step."""

from __future__ import annotations

from typing import Any

import pytest

import stateward as sw
from stateward.chart.event import Occurrence
from stateward.properties import always_before, eventually, never
from stateward.testing import chart_machine
from stateward.testing.walk import ChartMachine, illegal
from tests.chart.machines.regions import regions


def work(state: Any) -> None:
    """Stand for an activity."""


def two_steps() -> sw.Chart[Any]:
    """A job that is done and then paid; a refusal, a failure and a timer lead elsewhere."""
    job = sw.Superstate(
        "JOB", sw.State("DO", do=work, to="PAY"), sw.State("PAY", do=work, to="DONE"), on=[sw.on("no", "OFF")]
    )
    return sw.Chart("job", dict, job, sw.State("OFF", on=[sw.after(5, "LATE")]), sw.State("LATE"), sw.Final("DONE"))


def walked(chart: sw.Chart[Any], *properties: Any) -> ChartMachine:
    """Begin a walk."""
    walk = chart_machine(chart, properties=properties)()
    walk.begin({})
    return walk


def test_moments_tell_what_happened() -> None:
    """The event, what was entered and left, and what is active."""
    walk = walked(two_steps())
    walk.end("JOB.DO", {})
    first, second = walk.trace
    assert (first.event, first.entered) == (None, ("JOB", "JOB.DO"))
    assert (second.event, second.exited, second.active) == ("end of JOB.DO", ("JOB.DO",), {"JOB", "JOB.PAY"})


def test_what_can_happen_is_known() -> None:
    """Events that are awaited, activities that run, the end."""
    walk = walked(two_steps())
    assert (walk.awaits("no"), walk.awaits("yes"), walk.running) == (True, False, ("JOB.DO",))
    walk.end("JOB.DO", {})
    walk.end("JOB.PAY", {})
    assert (walk.is_over, walk.can_go_on, walk.awaits("no"), walk.running) == (True, False, False, ())


def test_failure_that_nobody_takes_ends_the_walk() -> None:
    """As it ends a run; `eventually` does not speak of it."""
    walk = walked(two_steps(), eventually("DONE"))
    walk.fail("JOB.DO", Occurrence(name="error.activity"))
    assert (walk.is_failed, walk.can_go_on) == (True, False)


def test_timers_have_steps_of_their_own() -> None:
    """Each is a moment."""
    walk = walked(two_steps())
    walk.send(Occurrence(name="no"))
    walk.pass_time(5)
    assert [moment.active for moment in walk.trace[1:]] == [{"OFF"}, {"LATE"}]


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (never("PAY"), r"never\('PAY'\) does not hold"),
        (always_before("OFF", "PAY"), "always_before"),
        (lambda trace: "JOB.PAY" not in trace[-1].active, "<lambda>"),
    ],
)
def test_broken_property_fails_at_the_step_that_breaks_it(broken: Any, told: str) -> None:
    """With the property and the moment."""
    walk = walked(two_steps(), broken)
    with pytest.raises(AssertionError, match=told):
        walk.end("JOB.DO", {})


def test_what_has_not_come_when_nothing_more_can_happen_will_not_come() -> None:
    """`eventually` is looked at there."""
    walk = walked(two_steps(), eventually("DONE"))
    walk.send(Occurrence(name="no"))
    with pytest.raises(AssertionError, match="eventually"):
        walk.pass_time(5)


def test_error_of_an_action_that_nobody_takes_fails() -> None:
    """It would fail the run."""
    chart = sw.Chart(
        "broken", dict, sw.State("A", on=[sw.on("go", "B")]), sw.State("B", entry=lambda state: state["x"])
    )
    walk = walked(chart)
    with pytest.raises(AssertionError, match=r"error\.action"):
        walk.send(Occurrence(name="go"))


def test_illegal_configurations_are_named() -> None:
    """Not one state, not every region, or not what is around."""
    chart = regions()
    assert illegal(chart, (0, 1, 2, 3, 5, 6)) == ""
    assert illegal(chart, (0, 1, 2, 3)) == "`P` is active with 1 of its 2 states"
    assert illegal(chart, (0, 1, 2, 3, 4, 5, 6)) == "`P.L` is active with 2 of its 2 states"
    assert illegal(chart, (3,)) == "`P.L.L1` is active, which it cannot be"
    assert illegal(chart, ()) == "no state is active"
