"""What is written beside arrows."""

from __future__ import annotations

import pytest

from stateward.chart.compiler import build
from stateward.chart.label import label, short
from stateward.chart.state import Final, State
from stateward.chart.transition import After, On, When, after, on, when


def is_late(state: dict[str, object]) -> bool:
    """A guard."""
    return True


def seconds(state: dict[str, object]) -> float:
    """A delay."""
    return 3


def note(state: dict[str, object]) -> None:
    """An action."""


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (on("close", "B"), "close"),
        (on("close", "B", when=is_late, do=[note, note]), "close [is_late] / note, note"),
        (after(30, "B"), "after 30s"),
        (after(0.25, "B", when=is_late), "after 0.25s [is_late]"),
        (after(seconds, "B"), "after seconds()"),
    ],
)
def test_an_arrow_says_event_guard_and_action(written: On | After, text: str) -> None:
    """In UML's order; a timer says its time."""
    (transition,) = build("one", [State("A", on=written), Final("B")]).transitions
    assert label(transition) == text


@pytest.mark.parametrize(("choice", "text"), [("B", ""), (when(is_late, "B"), "[is_late]")])
def test_a_completion_says_only_its_guard(choice: str | When, text: str) -> None:
    """UML's arrow without a trigger."""
    (transition,) = build("one", [State("A", to=choice), Final("B")]).transitions
    assert label(transition) == text


def test_what_is_tested_after_every_step_says_so() -> None:
    """It would look like a completion otherwise."""
    (transition,) = build("one", [State("A", always=when(is_late, "B")), Final("B")]).transitions
    assert label(transition) == "always [is_late]"


def test_functions_go_by_their_last_name() -> None:
    """Where they are defined is not the picture's affair."""
    assert (short("nodes.desk.more_to_do"), short("f.<locals>.<lambda>")) == ("more_to_do", "lambda")
