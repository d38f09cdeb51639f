"""What happens later: `after`, delayed events, and what cancels them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

import stateward as sw
from stateward.chart.compiler import build
from stateward.chart.data import PlainData
from stateward.chart.definition import Definition
from stateward.chart.delay import Cancel, Delayed, Schedule
from stateward.chart.event import Event
from stateward.chart.step import Step, advance, start
from stateward.errors import DefinitionError
from tests.chart.paths import seen


def asking() -> Definition:
    """ASK is left after 30 s, or by `answered`; it reminds without being left after 10 s."""
    timers = [sw.after(30, "LATE"), sw.after(10, do=lambda state: {"reminded": True}), sw.on("answered", "DONE")]
    return build("asking", [sw.State("ASK", on=timers), sw.State("LATE"), sw.Final("DONE")])


def sent(step: Step) -> list[tuple[str, float]]:
    """Id and delay of what a step schedules."""
    return [(timer.id, timer.delay_s) for timer in step.timers if isinstance(timer, Schedule)]


def cancelled(step: Step) -> list[str]:
    """The ids a step cancels."""
    return [timer.id for timer in step.timers if isinstance(timer, Cancel)]


def test_entering_a_state_schedules_its_timers() -> None:
    """Each under the name of its event, numbered in the order they are written."""
    assert sent(start(asking(), PlainData())) == [("after.ASK.0", 30.0), ("after.ASK.1", 10.0)]


def test_leaving_a_state_cancels_its_timers() -> None:
    """Whatever led out of it."""
    chart, data = asking(), PlainData()
    step = advance(chart, start(chart, data).configuration, seen("answered"), data)
    assert cancelled(step) == ["after.ASK.0", "after.ASK.1"]


def test_a_timer_without_target_leaves_the_others_alone() -> None:
    """It runs its action; nothing is left, nothing is cancelled."""
    chart, data = asking(), PlainData()
    step = advance(chart, start(chart, data).configuration, seen("after.ASK.1"), data)
    assert (step.timers, data.state) == ((), {"reminded": True})


def test_a_timer_of_the_root_has_no_path_in_its_name() -> None:
    """Its number follows at once."""
    chart = build("c", [sw.State("A", on=sw.on("go", "B")), sw.State("B")], on=sw.after(5, "B"))
    assert sent(start(chart, PlainData())) == [("after.0", 5.0)]


def test_a_delay_may_be_worked_out_on_every_entry() -> None:
    """After the entry actions, from the data as it is then."""
    wait = sw.State("W", entry=lambda s: {"n": 4}, on=sw.after(lambda s: s["n"] * 2, "W"))
    assert sent(start(build("c", [wait]), PlainData())) == [("after.W.0", 8.0)]


@pytest.mark.parametrize("wrong", [-1, math.inf, "soon", None, True])
def test_a_delay_that_is_no_time_is_reported_and_not_scheduled(wrong: object) -> None:
    """The chart gets `error.delay`, which it may react to."""
    wait = sw.State("W", on=[sw.after(lambda s: wrong, "W"), sw.on("error.delay", "WRONG")])  # pyright: ignore
    chart = build("c", [wait, sw.State("WRONG")])
    step = start(chart, PlainData())
    assert (sent(step), step.configuration.is_in("WRONG", chart=chart)) == ([], True)


@pytest.mark.parametrize("seconds", [-1, math.nan, "3"])
def test_a_delay_that_is_no_number_of_seconds_is_refused(seconds: object) -> None:
    """Already when the chart is built."""
    with pytest.raises(DefinitionError, match="for its seconds"):
        build("c", [sw.State("A", on=sw.after(seconds, "A"))])  # pyright: ignore


def test_an_action_sends_an_event_for_later_among_others() -> None:
    """In a list with an update and a name to raise; nobody's exit cancels it."""

    def act(state: object) -> Sequence[object]:
        return [{"n": 1}, Delayed("late", after_s=5, id="x"), "now"]

    chart, data = build("c", [sw.State("A", entry=act, on=sw.on("now", "B")), sw.State("B")]), PlainData()  # pyright: ignore
    step = start(chart, data)
    assert (sent(step), [t.owner for t in step.timers if isinstance(t, Schedule)]) == ([("x", 5.0)], [-1])
    assert (data.state, step.configuration.is_in("B", chart=chart), cancelled(step)) == ({"n": 1}, True, [])


def test_an_action_cancels_by_id() -> None:
    """The shell forgets every pending event of that id."""
    chart = build("c", [sw.State("A", entry=lambda s: Delayed.cancel("x"))])
    assert cancelled(start(chart, PlainData())) == ["x"]


@pytest.mark.parametrize("after_s", [-1, math.inf, math.nan])
def test_an_event_for_no_time_is_refused(after_s: float) -> None:
    """The value cannot be made."""
    with pytest.raises(ValueError, match="finite seconds from 0"):
        Delayed("late", after_s=after_s)


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (3, r"3 is no event that could happen \(at Delayed\(…\)\)\. Give a typed event, a bare name"),
        (None, "None is no event"),
        (Event, r"Make one: `Event\(…\)`"),
        ("a b", r"`a b` is not an event name \(at Delayed\(…\)\)"),
    ],
)
def test_only_an_event_can_be_delayed(event: Any, told: str) -> None:
    """What is none is refused where it is made, and not when its time has come."""
    with pytest.raises(DefinitionError, match=told):
        Delayed(event, after_s=1)


@pytest.mark.parametrize("id", ["", "after.ASK.0", 3])
def test_what_cannot_be_cancelled_is_refused(id: Any) -> None:
    """An empty id names nothing; a timer of `after` ends with its state only."""
    with pytest.raises(ValueError, match=r"nothing to cancel|only leaving its state|give a text"):
        Delayed.cancel(id)


def test_timers_are_part_of_the_chart_s_structure() -> None:
    """Another delay is another chart."""
    shown = [arrow.get("delay") for arrow in asking().to_json()["transitions"]]  # pyright: ignore
    assert shown == [30.0, 10.0, None]
