"""What holds of every chart and every sequence of events."""

from __future__ import annotations

from copy import deepcopy
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.chart.definition import Definition
from stateward.chart.step import PlainData, Step, advance, start
from tests.chart.charts import EVENTS, charts
from tests.chart.legal import assert_legal
from tests.chart.machines.nested import nested
from tests.chart.paths import at, seen

events = st.lists(st.sampled_from(EVENTS), max_size=8)


def play(chart: Definition, names: list[str]) -> list[Step]:
    """Return the steps of a chart from its start through the events."""
    steps = [start(chart, PlainData())]
    for name in names:
        steps.append(advance(chart, steps[-1].configuration, seen(name), PlainData()))
    return steps


@settings(max_examples=60, deadline=None)
@given(charts(), events)
def test_every_configuration_is_legal(chart: Definition, names: list[str]) -> None:
    """One child of each active superstate, all regions of each active parallel state, never a history state."""
    for step in play(chart, names):
        assert_legal(chart, step.configuration)


@settings(max_examples=40, deadline=None)
@given(charts(), events)
def test_exits_and_entries_are_in_opposite_orders_and_explain_the_configuration(
    chart: Definition, names: list[str]
) -> None:
    """States are left in reverse document order, entered in document order, and nothing else changes."""
    active: set[int] = set()
    for step in play(chart, names):
        for microstep in step.microsteps:
            assert all(left > right for left, right in pairwise(microstep.exited))
            assert all(left < right for left, right in pairwise(microstep.entered))
            assert active >= set(microstep.exited)
            active -= set(microstep.exited)
            assert active.isdisjoint(microstep.entered)
            active |= set(microstep.entered)
        assert active == set(step.configuration.active)


@settings(max_examples=40, deadline=None)
@given(charts(), events)
def test_entries_count_activations(chart: Definition, names: list[str]) -> None:
    """A state's number is how often some microstep has entered it."""
    steps = play(chart, names)
    entered = [state for step in steps for microstep in step.microsteps for state in microstep.entered]
    assert steps[-1].configuration.entries == {state: entered.count(state) for state in entered}


@settings(max_examples=40, deadline=None)
@given(charts(), events)
def test_the_same_events_give_the_same_steps_and_change_nothing_given(chart: Definition, names: list[str]) -> None:
    """The kernel is a function: replay equals run, and a configuration is never changed in place."""
    steps = play(chart, names)
    kept = deepcopy([step.configuration for step in steps])
    assert play(chart, names) == steps
    assert [step.configuration for step in steps] == kept


@settings(max_examples=40, deadline=None)
@given(charts(), events)
def test_history_remembers_what_was_active_when_its_parent_was_left(chart: Definition, names: list[str]) -> None:
    """Shallow history holds the active child, deep history the active innermost states."""
    active: tuple[int, ...] = ()
    for step in play(chart, names):
        if len(step.microsteps) == 1:
            for history in (node for node in chart.nodes if node.kind == "history"):
                if history.parent in step.exited:
                    inside = [s for s in active if chart.is_descendant(s, of=history.parent)]
                    wanted = [
                        s
                        for s in inside
                        if (chart.is_atomic(s) if history.deep else chart.nodes[s].parent == history.parent)
                    ]
                    assert list(step.configuration.history[history.index]) == wanted
        active = step.configuration.active


@given(st.lists(st.sampled_from(["next", "stay", "inside", "outside", "again"]), max_size=6))
def test_deep_history_restores_exactly(names: list[str]) -> None:
    """Leaving and coming back through deep history leads to the same innermost state from anywhere."""
    chart, data = nested(), PlainData({"log": []})
    before = advance(chart, start(chart, data).configuration, seen(*names), data)
    after = advance(chart, before.configuration, seen("leave", "back"), data)
    assert at(chart, after) == at(chart, before)
    assert after.configuration.active == before.configuration.active
