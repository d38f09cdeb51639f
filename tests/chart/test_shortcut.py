"""The shortest step: it is taken only where it comes to what the whole algorithm comes to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.chart.compiler import build
from stateward.chart.configuration import Configuration
from stateward.chart.data import PlainData
from stateward.chart.definition import Activity, Definition, Node, Transition
from stateward.chart.event import Occurrence
from stateward.chart.guard import Bound
from stateward.chart.macrostep import Macrostep
from stateward.chart.shortcut import shortcut
from stateward.chart.state import AnyState, Final, Parallel, State, Superstate
from stateward.chart.step import start
from stateward.chart.tables import ACTIVITY_DONE, define
from stateward.chart.trace import Step
from stateward.chart.transition import History, after, on, when
from stateward.errors import NoTransition
from tests.chart.charts import charts
from tests.chart.paths import seen


def work(state: dict[str, object]) -> None:
    """Stand for an activity."""


def ready(state: dict[str, object]) -> bool:
    """Look at one key."""
    return bool(state["ready"])


def done(chart: Definition, configuration: Configuration) -> list[Occurrence]:
    """Return the news that the activity of the innermost state has ended."""
    return [Occurrence(name=f"{ACTIVITY_DONE}{chart.nodes[configuration.active[-1]].path}")]


def in_full(chart: Definition, configuration: Configuration, data: PlainData) -> Step | None:
    """Take the step by the whole algorithm; None if it leads nowhere."""
    try:
        return Macrostep(chart, configuration, data=data, limit=100).process(done(chart, configuration))
    except NoTransition:
        return None


def short(*states: AnyState, **data: object) -> Step | None:
    """Take the step that ends the first state's activity the short way."""
    chart = build("c", states)
    configuration = start(chart, PlainData(data)).configuration
    return shortcut(chart, configuration, done(chart, configuration), data=PlainData(data))


def test_first_true_guard_decides() -> None:
    """The guards are tried in order, and what each said is kept."""
    states = (State("A", do=work, to=[when(ready, "B"), "C"]), State("B", do=work), State("C", do=work))
    step, other = short(*states, ready=True), short(*states, ready=False)
    assert step is not None
    assert other is not None
    assert (step.starts, [v.passed for v in step.verdicts]) == ((2,), [True])
    assert (other.starts, [v.passed for v in other.verdicts]) == ((3,), [False])


def test_last_state_ends_the_chart() -> None:
    """A final state at the top without data needs nothing else."""
    step = short(State("A", do=work, to="DONE"), Final("DONE"))
    assert step is not None
    assert step.final


@pytest.mark.parametrize(
    "states",
    [
        pytest.param((State("A", do=work, to="B", exit=work), State("B")), id="exit action"),
        pytest.param((State("A", do=work, to="B"), State("B", entry=work)), id="entry action"),
        pytest.param(
            (State("A", do=work, to=when(lambda state: True, "B", do=work)), State("B")), id="transition action"
        ),
        pytest.param((State("A", do=work, to="B"), State("B", always="A")), id="eventless transition"),
        pytest.param((State("A", do=work, to="B"), State("B", to="A")), id="completion of what is entered"),
        pytest.param((Superstate("S", State("A", do=work, to="E"), Final("E"), to="B"), State("B")), id="inner final"),
        pytest.param((State("A", do=work, to="B"), State("B", on=after(1, "A"))), id="timer"),
        pytest.param((State("A", do=work, to="P"), Parallel("P", State("B"), State("C"))), id="parallel state"),
        pytest.param((State("A", do=work, to=when(ready, "B")), State("B")), id="no guard is true"),
    ],
)
def test_everything_else_goes_the_long_way(states: tuple[AnyState, ...]) -> None:
    """More than leaving and entering happens on the way."""
    assert short(*states, ready=False) is None


def test_event_takes_the_short_way_out_and_back_through_history() -> None:
    """What history remembers and restores is part of the route."""
    inner = Superstate("S", State("A", on=on("next", "B")), State("B"), history="deep", on=on("out", "C"))
    chart = build("c", [inner, State("C", on=on("back", History("S")))])
    configuration, data = start(chart, PlainData()).configuration, PlainData()
    for name in ("next", "out", "back"):
        long = Macrostep(chart, configuration, data=data, limit=9).process(seen(name))
        step = shortcut(chart, configuration, seen(name), data=data)
        assert step == long
        configuration = long.configuration
    assert configuration.is_in("S.B", chart=chart)


def test_guard_that_raises_is_left_to_the_long_way() -> None:
    """There its error becomes an event."""
    assert short(State("A", do=work, to=[when(ready, "B"), "B"]), State("B")) is None


@st.composite
def working(draw: st.DrawFn) -> Definition:
    """Return a random chart in which every innermost state works, and most transitions take its end."""
    chart = draw(charts())
    nodes = [replace(n, kind="compound" if n.kind == "parallel" else n.kind, initial=_initial(n)) for n in chart.nodes]
    nodes = [replace(n, activity=_ACTIVITY) if n.kind == "atomic" else n for n in nodes]
    transitions = [_ending(chart, transition) for transition in chart.transitions]
    return define("random", nodes=nodes, transitions=transitions, events=chart.events)


_ACTIVITY = Activity(do=work, model=None, tools=(), output=None, timeout_s=None)


def _initial(node: Node) -> tuple[int, ...]:
    return node.children[:1] if node.kind == "parallel" else node.initial


def _ending(chart: Definition, transition: Transition) -> Transition:
    index = transition.index
    if chart.nodes[transition.source].kind != "atomic":
        return transition
    guard = Bound(fn=lambda s: index in s["yes"], name=f"g{index}", positional=(0,), keyword=(), is_async=False)
    news = f"{ACTIVITY_DONE}{chart.nodes[transition.source].path}"
    return replace(transition, kind="completion", events=(news,), guard=guard, guard_name=f"g{index}")


@settings(max_examples=150, deadline=None)
@given(working(), st.sets(st.integers(0, 9)))
def test_short_way_and_long_way_are_the_same(chart: Definition, yes: set[int]) -> None:
    """Wherever there is a short way, it comes to the same step."""
    data = PlainData({"yes": yes})
    configuration = start(chart, data).configuration
    for _ in range(6):
        if chart.nodes[configuration.active[-1]].kind == "final":
            return
        step = in_full(chart, configuration, data)
        assert shortcut(chart, configuration, done(chart, configuration), data=data) in (None, step)
        if step is None:
            return
        configuration = step.configuration
