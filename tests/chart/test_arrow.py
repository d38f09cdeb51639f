"""What transitions are called."""

from __future__ import annotations

from typing import Any

from stateward.chart.arrow import bare_arrows, full_arrows
from stateward.chart.compiler import build
from stateward.chart.definition import Definition
from stateward.chart.state import State
from stateward.chart.transition import after, on, when


def yes(state: object) -> bool:
    return True


def chart(**given: Any) -> Definition:
    return build("c", [State("A", **given), State("B")])


def test_ends_are_enough_where_they_are_the_only_ones() -> None:
    """The whole chart goes by its name."""
    c = build("c", [State("A", on=[on("x", "B"), on("stay")]), State("B")], on=[on("x", "A")])
    assert c.tables.arrows == ("c -> A", "A -> B", "A -> (stays)")


def test_several_between_two_states_say_event_and_guard() -> None:
    """The others stay as short as they are."""
    c = chart(on=[on("x", "B"), on("y", "B", when=yes), after(2, "B"), on("z")], always=when(yes, "B"))
    assert c.tables.arrows == (
        "A -> B on x",
        "A -> B on y [yes]",
        "A -> B after 2 s",
        "A -> (stays)",
        "A -> B always [yes]",
    )


def test_the_same_said_twice_is_numbered() -> None:
    """No two are called the same."""
    c = chart(on=[on("x", "B", when=yes), on("x", "B", when=yes), on("x")])
    assert c.tables.arrows == ("A -> B on x [yes] #1", "A -> B on x [yes] #2", "A -> (stays)")


def test_all_can_be_had_in_either_length() -> None:
    """Whatever is needed to tell them apart."""
    c = chart(on=[on("x", "B"), on("y")])
    assert bare_arrows(c.transitions, nodes=c.nodes, name=c.name) == ("A -> B", "A -> (stays)")
    assert full_arrows(c.transitions, nodes=c.nodes, name=c.name) == ("A -> B on x", "A -> (stays) on y")
