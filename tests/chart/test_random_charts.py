"""What holds of every chart, every sequence of events and every moment: properties over random charts."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings

from stateward.chart.configuration import Configuration
from stateward.chart.data import PlainData
from stateward.chart.definition import Definition, Transition
from stateward.chart.event import Occurrence
from stateward.chart.guard import Active
from stateward.chart.macrostep import Macrostep
from stateward.chart.shortcut import shortcut
from stateward.chart.step import Step, advance
from stateward.errors import MicrostepLimit
from stateward.run.checkpoint import Pins, configuration_delta, decode, merge, start_delta
from stateward.simulation import Simulation
from tests.chart.legal import assert_legal
from tests.chart.played import LIMIT, Deed, Play, scripts
from tests.chart.random_charts import Sketch, sketches
from tests.chart.sketched import chart, fresh

few = settings(max_examples=25, deadline=None)
many = settings(max_examples=1_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
EMPTY = Configuration()


@few
@given(sketches(), scripts)
def test_every_configuration_is_legal(sketch: Sketch, script: list[Deed]) -> None:
    """One child of each active superstate, all regions of each active parallel state, all around them; SCXML 3.11."""
    play = Play(chart(sketch), script)
    for taken in play.taken:
        assert_legal(play.chart, taken.step.configuration)


@few
@given(sketches(), scripts)
def test_exits_and_entries_mirror_each_other_and_explain_the_configuration(sketch: Sketch, script: list[Deed]) -> None:
    """Out in reverse document order, in in document order, each with its actions, and nothing else changes."""
    play, before = Play(chart(sketch), script), 0
    for taken in play.taken:
        active, lines = set(taken.before.active), list[str]()
        for micro in taken.step.microsteps:
            assert all(left > right for left, right in pairwise(micro.exited))
            assert all(left < right for left, right in pairwise(micro.entered))
            assert active >= set(micro.exited)
            active -= set(micro.exited)
            assert active.isdisjoint(micro.entered)
            active |= set(micro.entered)
            lines += [f"-{name}" for name in names(play.chart, micro.exited) if sketch.boxes[name].exit]
            lines += [f"+{name}" for name in names(play.chart, micro.entered)]
        assert active == set(taken.step.configuration.active)
        assert [line for line in taken.state["log"][before:] if line[0] in "+-"] == lines
        before = len(taken.state["log"])


def names(chart: Definition, states: Sequence[int]) -> list[str]:
    return [chart.nodes[state].name for state in states if state]


@few
@given(sketches(), scripts)
def test_activations_are_counted_and_what_was_left_is_said(sketch: Sketch, script: list[Deed]) -> None:
    """A state's number is how often it was entered; `exited` and `starts` are what the microsteps say."""
    play, entered = Play(chart(sketch), script), Counter[int]()
    for taken in play.taken:
        step, inside = taken.step, set[int]()
        for micro in step.microsteps:
            entered.update(micro.entered)
            inside = inside - {*micro.exited} | {*micro.entered}
        assert step.configuration.entries == entered
        assert step.exited == tuple(state for micro in step.microsteps for state in micro.exited)
        assert step.starts == tuple(state for state in sorted(inside) if play.chart.nodes[state].activity)


@few
@given(sketches(), scripts)
def test_history_holds_what_was_active_when_its_parent_was_left(sketch: Sketch, script: list[Deed]) -> None:
    """Shallow: the children that were active; deep: the innermost states. Nothing else ever changes it."""
    play = Play(chart(sketch), script)
    kept: dict[int, tuple[int, ...]] = {}
    for taken in play.taken:
        active = set(taken.before.active)
        for micro in taken.step.microsteps:
            kept |= remembered(play.chart, active, exited=micro.exited)
            active = active - {*micro.exited} | {*micro.entered}
        assert dict(taken.step.configuration.history) == kept


def remembered(chart: Definition, active: set[int], *, exited: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
    """Say what each history state keeps when its parent is among the states that are left."""
    kept: dict[int, tuple[int, ...]] = {}
    for node in (each for each in chart.nodes if each.kind == "history" and each.parent in exited):
        inside = [state for state in sorted(active) if node.parent < state < chart.nodes[node.parent].end]
        kept[node.index] = tuple(
            state
            for state in inside
            if (chart.is_atomic(state) if node.deep else chart.nodes[state].parent == node.parent)
        )
    return kept


@few
@given(sketches(), scripts)
def test_history_restores_what_was_left(sketch: Sketch, script: list[Deed]) -> None:
    """Deep: exactly the states that were active inside; shallow: the same children."""
    play = Play(chart(sketch), script)
    for taken in play.taken:
        active, memory = set(taken.before.active), dict(taken.before.history)
        for micro in taken.step.microsteps:
            memory |= remembered(play.chart, active, exited=micro.exited)
            active = active - {*micro.exited} | {*micro.entered}
            for history in restored(play.chart, micro.transitions):
                assert_restored(play.chart, history, active=active, memory=memory)


def restored(chart: Definition, transitions: tuple[int, ...]) -> list[int]:
    """Return the history state that a microstep of one transition leads to."""
    targets = chart.transitions[transitions[0]].targets if len(transitions) == 1 else ()
    return [target for target in targets if chart.nodes[target].kind == "history"]


def assert_restored(chart: Definition, history: int, *, active: set[int], memory: dict[int, tuple[int, ...]]) -> None:
    node = chart.nodes[history]
    if history not in memory:
        assert node.parent in active
        return
    wanted = {state for kept in memory[history] for state in chart.tables.chains[kept] if state > node.parent}
    inside = {state for state in active if chart.is_descendant(state, of=node.parent)}
    assert inside == wanted if node.deep else {s for s in inside if chart.nodes[s].parent == node.parent} == wanted


class Told(PlainData):
    """Data whose guards say what they said before, whatever they would say now."""

    def __init__(self) -> None:
        super().__init__(fresh())
        self.verdicts: deque[bool] = deque()

    def test(self, transition: Transition, *, event: Occurrence | None, active: Active) -> bool:
        return transition.guard is None or self.verdicts.popleft()


@few
@given(sketches(), scripts)
def test_run_is_replayed_from_its_event_log(sketch: Sketch, script: list[Deed]) -> None:
    """Events and verdicts alone lead to the same microsteps, timers and data, by the whole algorithm every time."""
    play, told = Play(chart(sketch), script), Told()
    configuration = EMPTY
    for taken in play.taken:
        told.verdicts.extend(verdict.passed for verdict in taken.step.verdicts)
        step = in_full(play.chart, configuration, taken.event, told)
        assert (step, told.state, len(told.verdicts)) == (taken.step, taken.state, 0)
        configuration = step.configuration


def in_full(chart: Definition, configuration: Configuration, event: Occurrence | None, data: PlainData) -> Step:
    """Take a step by the whole algorithm."""
    run = Macrostep(chart, configuration, data=data, limit=LIMIT)
    if event is None:
        run.begin()
    return run.process([event] if event else [])


@few
@given(sketches(), scripts)
def test_shortcut_is_the_whole_algorithm(sketch: Sketch, script: list[Deed]) -> None:
    """Wherever there is a short way, it comes to the same step and changes no data."""
    play = Play(chart(sketch), script)
    for before, taken in pairwise(play.taken):
        assert taken.event is not None
        data = PlainData(before.state)
        short = shortcut(play.chart, taken.before, [taken.event], data=data)
        assert (short, data.state) in [(None, before.state), (taken.step, taken.state)]
        assert in_full(play.chart, taken.before, taken.event, PlainData(before.state)) == taken.step


@few
@given(sketches(), scripts)
def test_restoring_at_any_step_changes_nothing(sketch: Sketch, script: list[Deed]) -> None:
    """The configuration goes through its JSON form after every step, and the run is the same."""
    drawn = chart(sketch)
    stored = start_delta(run="r", run_no=1, pins=Pins(chart="c", policy="p", schema="s", mode="m"), branch="main")
    raw = merge({}, stored)

    def through_json(before: Configuration, after: Configuration, step: Step) -> Configuration:
        nonlocal raw
        entered = {state for micro in step.microsteps for state in micro.entered}
        raw = merge(raw, configuration_delta(before, after, drawn, entered=entered))
        control = decode(raw, drawn)
        assert control is not None
        return control.configuration

    assert Play(drawn, script, restored=through_json).taken == Play(drawn, script).taken


@few
@given(sketches(), scripts)
def test_nothing_given_is_changed(sketch: Sketch, script: list[Deed]) -> None:
    """The kernel is a function: the same script gives the same steps, and no configuration changes in place."""
    play = Play(chart(sketch), script)
    kept = deepcopy([(taken.before, taken.step) for taken in play.taken])
    assert Play(play.chart, script).taken == play.taken
    assert [(taken.before, taken.step) for taken in play.taken] == kept


@few
@given(sketches(), scripts)
def test_limit_of_microsteps_raises_and_changes_nothing(sketch: Sketch, script: list[Deed]) -> None:
    """One microstep less than a step needs is too few; with as many as it needs it is taken afterwards."""
    play = Play(chart(sketch), script)
    for before, taken in pairwise(play.taken):
        needed = len(taken.step.microsteps)
        if needed > 1 and taken.event is not None:
            kept = deepcopy(taken.before)
            data = PlainData(before.state)
            with pytest.raises(MicrostepLimit) as raised:
                advance(play.chart, taken.before, [taken.event], data, limit=needed - 1)
            assert raised.value.facts["limit"] == needed - 1
            assert (taken.before, data.state) == (kept, before.state)
            again = advance(play.chart, taken.before, [taken.event], data, limit=needed)
            assert (again, data.state) == (taken.step, taken.state)


@few
@given(sketches(), scripts)
def test_timers_stand_exactly_while_their_state_does(sketch: Sketch, script: list[Deed]) -> None:
    """Entering a state sets each of its timers once, leaving it takes away what has not fallen due."""
    play = Play(chart(sketch), script)
    timed = {t.events[0]: t.source for t in play.chart.transitions if t.delay is not None}
    due: dict[str, bool] = {}
    for taken in play.taken:
        active = taken.step.configuration.active
        due |= dict.fromkeys((timer for timer, state in timed.items() if state in taken.step.exited), False)
        if taken.event is not None and taken.event.name in timed and timed[taken.event.name] not in taken.step.exited:
            due[taken.event.name] = True
        pending = [timer.id for _, timer in taken.pending]
        standing = [timer for timer, state in timed.items() if state in active and not due.get(timer)]
        assert sorted(pending) == sorted(standing)
        assert all(timer.owner == timed[timer.id] for _, timer in taken.pending)


@few
@given(sketches(), scripts)
def test_simulation_keeps_time_like_the_shell(sketch: Sketch, script: list[Deed]) -> None:
    """The same script leads to the same last step, data, activities and pending timers, in order of their moments."""
    play = Play(chart(sketch), script)
    if play.failure is None:
        simulation = simulated(play.chart, script)
        assert simulation.last == play.taken[-1].step
        assert simulation.data.state == play.taken[-1].state
        if not play.over:
            assert [play.chart.by_path[path] for path in simulation.activities] == play.running
            pending = sorted(((due, timer.id) for due, timer in play.pending), key=lambda each: each[0])
            assert [(due, id) for due, id, _ in simulation.pending] == pending


def simulated(chart: Definition, script: list[Deed]) -> Simulation:
    simulation = Simulation(chart, state=fresh())
    for what, value in script:
        if simulation.last.final:
            break
        if what == "send":
            simulation.send(value)
        elif what == "wait":
            simulation.wait(value)
        elif simulation.activities:
            simulation.complete(path=simulation.activities[value % len(simulation.activities)])
    return simulation


def properties() -> list[Callable[[Sketch, list[Deed]], None]]:
    """Return every property of this file, without the few examples it is tried with."""
    tests = [value for name, value in globals().items() if name.startswith("test_") and hasattr(value, "hypothesis")]
    return [test.hypothesis.inner_test for test in tests]


@pytest.mark.slow
@many
@given(sketches(), scripts)
def test_all_of_it_holds_of_many_more_charts(sketch: Sketch, script: list[Deed]) -> None:
    """The same properties, each on every one of a thousand charts."""
    for holds in properties():
        if holds is not test_all_of_it_holds_of_many_more_charts.hypothesis.inner_test:
            holds(sketch, script)
