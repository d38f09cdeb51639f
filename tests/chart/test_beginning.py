"""Where every run of a chart begins: only what no function of the author's can change is said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.chart.beginning import beginning
from stateward.chart.compiler import build
from stateward.chart.data import PlainData
from stateward.chart.state import AnyState, Final, State, Superstate
from stateward.chart.step import start
from stateward.chart.transition import after, on, when


def work(state: dict[str, object]) -> None:
    """Stand for an activity."""


def act(state: dict[str, object]) -> Any:
    """Do what the state says."""
    raised = state["told"]
    if isinstance(raised, Exception):
        raise raised
    return raised


def block(*, to: Any = "DO", always: Any = None, **begin: Any) -> tuple[AnyState, ...]:
    """Return a superstate that begins with a preparation, and a state for what else may happen."""
    inside = (State("BEGIN", to=to, **begin), State("DO", do=work, to="END"), Final("END"))
    return (Superstate("S", *inside, to="END", always=always), State("OTHER", do=work, to="END"), Final("END"))


def begins(*states: AnyState, limit: int = 100) -> str | None:
    """Return the path of the state a run begins in."""
    chart = build("c", states)
    found = beginning(chart, limit=limit)
    return None if found is None else chart.nodes[found].path


def test_a_preparation_without_a_guard_is_seen_through() -> None:
    """An action on the way in or out has no say in where it leads."""
    assert begins(*block()) == "S.DO"
    assert begins(*block(entry=act)) == "S.DO"
    assert begins(*block(exit=act)) == "S.DO"


@pytest.mark.parametrize(
    "states",
    [
        block(to=[when(act, "OTHER"), "DO"]),
        block(always=when(act, "OTHER")),
        block(entry=act, on=on("error.action", "OTHER")),
        block(on=after(1, "OTHER")),
        (State("A", on=on("x", "Z")), Final("Z")),
        (State("A", to="Z"), Final("Z")),
        (State("A", to="B"), State("B", to="A")),
    ],
)
def test_nothing_is_said_where_something_has_a_say(states: tuple[AnyState, ...]) -> None:
    """A guard, what an action may raise, a timer; nor where a run waits, ends, or goes in a circle at once."""
    assert begins(*states) is None


def test_nothing_is_said_of_a_start_that_the_fuse_stops() -> None:
    """It takes two microsteps to come there."""
    assert begins(*block(), limit=2) == "S.DO"
    assert begins(*block(), limit=1) is None


@settings(max_examples=200)
@given(
    st.sampled_from([None, act]),
    st.sampled_from([None, act]),
    st.sampled_from([None, "error.action", "x", "y", "*"]),
    st.sampled_from([None, "x", "y", ["x", {"k": 1}], ValueError("broken"), {"told": "x"}]),
)
def test_a_run_begins_where_it_was_said(entry: Any, exit: Any, heard: str | None, told: object) -> None:
    """Whatever actions return or raise on the way."""
    chart = build("c", block(entry=entry, exit=exit, on=None if heard is None else on(heard, "OTHER")))
    found = beginning(chart, limit=100)
    if found is not None:
        assert start(chart, PlainData({"told": told})).starts == (found,)
