"""A step before its commit: what was taken before its event, and what is due right after it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import stateward as sw
from stateward.chart.event import Occurrence
from stateward.run.checkpoint import CHANNEL, merge, start_delta
from stateward.run.commit import finish
from stateward.run.graph import ChartGraph
from stateward.run.node import begin
from stateward.run.progress import Progress, ends_run, fatal_in, stepped
from stateward.run.timers import still
from tests.charts.one import One
from tests.charts.timed import nap


def standing(graph: ChartGraph, *, now: float = 5.0) -> Progress:
    """Where a run stands after its first step."""
    control = merge({}, start_delta(run="r", run_no=1, pins=graph.machine.pins, branch="main"))
    update: Any = finish(graph.machine, begun(graph, control, now=5.0), ()).command.update
    return begun(graph, merge(control, dict(update)[CHANNEL]), now=now)


def begun(graph: ChartGraph, control: dict[str, Any], *, now: float) -> Progress:
    """Where a step begins, at some moment."""
    return replace(begin(graph.machine, {CHANNEL: control}, where="x"), now=lambda: now)


def act(state: One) -> One:
    return {}


def test_entering_a_chart_sets_its_timers_at_that_moment() -> None:
    """They are in the control channel of the first commit."""
    progress = standing(nap().compile())
    assert {timer["id"]: timer["due"] for timer in progress.control.timers.values()} == {
        "after.HOUSE.0": 65.0,
        "after.HOUSE.NAP.0": 15.0,
    }


def test_a_step_takes_what_is_due_after_its_event() -> None:
    """Its event has left the nap, whose timer is cancelled; that of the house has led out of it."""
    graph = nap().compile()
    progress = standing(graph, now=70.0)
    step = stepped(graph.machine, progress, (Occurrence(name="call"),))
    paths = [graph.machine.chart.nodes[state].path for state in step.configuration.active]
    assert (step.handled, paths[-1], bool(progress.agenda)) == (True, "OUT", False)


def test_a_step_without_timers_keeps_no_agenda() -> None:
    """Where nothing is scheduled nothing is looked for: the common case costs nothing."""
    graph = sw.Chart("plain", One, sw.State("A", do=act, to="B"), sw.Final("B")).compile()
    progress = standing(graph)
    stepped(graph.machine, progress, (Occurrence(name="done.activity.A"),))
    assert progress.agenda is None


def test_what_was_taken_before_is_part_of_the_step() -> None:
    """Its microsteps come first, and its configuration is where the event is met; handled is what the event was."""
    graph = nap().compile()
    chart, progress = graph.machine.chart, standing(graph)
    progress.prior = stepped(graph.machine, progress, (Occurrence(name="call"),))
    assert progress.began != progress.configuration
    step = stepped(graph.machine, progress, (Occurrence(name="nobody"),))
    assert (step.handled, len(step.microsteps)) == (False, 1)
    assert stepped(graph.machine, progress, ()).configuration == progress.prior.configuration
    assert still(chart, progress.configuration).final is False


def test_a_failure_that_nobody_takes_ends_the_run() -> None:
    """Errors, fuses and limits; any other event that no transition takes does not."""
    graph = nap().compile()
    for name, ends in (("error.activity", True), ("fuse.turns", True), ("timeout", True), ("errors", False)):
        step = stepped(graph.machine, standing(graph), (Occurrence(name=name),))
        assert (ends_run(graph.machine, step), fatal_in(step) is not None) == (ends, ends)
