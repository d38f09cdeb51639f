"""Plain data is changed by whole steps only: one that fails leaves it as it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from stateward.chart.compiler import build
from stateward.chart.data import PlainData
from stateward.chart.definition import Definition
from stateward.chart.event import Occurrence
from stateward.chart.state import State
from stateward.chart.step import Step, advance, start
from stateward.chart.transition import on, when
from stateward.errors import MicrostepLimit, NotExpected, NoTransition, StatewardError

Seen = dict[str, Any]
BEFORE = {"n": 1, "kept": "as it was"}


def count(state: Seen) -> Seen:
    """Return an update."""
    return {"n": state["n"] + 1, "new": True}


def meddle(state: Seen) -> None:
    """Write into what was given, as no action should."""
    state["n"] = state["n"] + 1
    del state["kept"]


def refuse(state: Seen) -> None:
    """Raise what the kernel lets through."""
    raise NotExpected("no")


def interrupt(state: Seen) -> None:
    """Be broken off by the person at the keyboard."""
    raise KeyboardInterrupt


def failing(act: Any, end: State[Any]) -> Definition:
    """A chart that acts on the way to a state where the step fails."""
    return build("failing", [State("A", on=on("go", "B", do=act)), end, State("C", always="B")])


ENDS: dict[str, tuple[State[Any], type[BaseException]]] = {
    "limit": (State("B", always="C"), MicrostepLimit),
    "stuck": (State("B", to=when(lambda state: False, "A")), NoTransition),
    "action": (State("B", entry=refuse), StatewardError),
    "guard": (State("B", always=when(refuse, "A")), StatewardError),
    "interrupt": (State("B", entry=interrupt), KeyboardInterrupt),
}


@pytest.mark.parametrize("act", [count, meddle, [count, meddle, count]])
@pytest.mark.parametrize("end", ENDS)
def test_a_step_that_fails_changes_no_data(act: Any, end: str) -> None:
    """What actions did before the error is undone, in the dictionary that the caller holds."""
    state, error = ENDS[end]
    chart, data = failing(act, state), PlainData(BEFORE)
    held, before = data.state, start(chart, data).configuration
    with pytest.raises(error):
        advance(chart, before, [Occurrence(name="go")], data, limit=9)
    assert (held, data.state is held) == (BEFORE, True)


def test_a_start_that_fails_changes_no_data() -> None:
    """Entering a chart is a step like others."""
    chart, data = build("c", [State("A", entry=count, to=when(lambda state: False, "A"))]), PlainData(BEFORE)
    with pytest.raises(NoTransition):
        start(chart, data)
    assert data.state == BEFORE


def test_only_the_step_that_fails_is_undone() -> None:
    """What the steps before it did, and what the caller wrote between them, stays."""
    chart = build("c", [State("A", on=[on("go", "A", do=count), on("end", "B", do=count)]), State("B", entry=refuse)])
    data = PlainData(BEFORE)
    went = advance(chart, start(chart, data).configuration, [Occurrence(name="go")], data)
    data.state["mine"] = 5
    with pytest.raises(NotExpected):
        advance(chart, went.configuration, [Occurrence(name="end")], data)
    assert data.state == {**BEFORE, "n": 2, "new": True, "mine": 5}


def test_an_action_that_fails_alone_undoes_nothing() -> None:
    """It is the event `error.action`, and the step goes on with what was done before it."""

    def fail(state: Mapping[str, object]) -> None:
        raise ValueError("bad")

    chart, data = build("c", [State("A", on=on("go", do=[count, fail]))]), PlainData(BEFORE)
    step: Step = advance(chart, start(chart, data).configuration, [Occurrence(name="go")], data)
    assert ([event.name for event in step.unhandled], data.state["n"]) == (["error.action"], 2)
