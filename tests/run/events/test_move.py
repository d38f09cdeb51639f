"""Moves: what a step has left and entered, in order, from what it writes to the control channel."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.run.events.event import StateEntered
from stateward.run.events.move import first_moves, moves


def told(before: list[str], at: list[str], entries: dict[str, int], *, begun: str = "") -> str:
    delta: dict[str, Any] = {"at": at, "entries": entries, "last": {"event": "go"}}
    made = moves({"at": before}, delta, begun=begun)
    return " ".join(f"{'+' if isinstance(each, StateEntered) else '-'}{each.path}" for each in made)


@pytest.mark.parametrize(
    ("before", "at", "entries", "expected"),
    [
        (["A"], ["B"], {"B": 1}, "-A +B"),
        (["W.A"], ["W.B"], {"W.B": 1}, "-W.A +W.B"),
        (["W.A"], ["B"], {"B": 1}, "-W.A -W +B"),
        (["B"], ["W.A"], {"W": 1, "W.A": 1}, "-B +W +W.A"),
        (["A"], ["A"], {"A": 2}, "-A +A"),
        (["W.A"], ["W.A"], {"W": 2, "W.A": 2}, "-W.A -W +W +W.A"),
        (["A"], ["B"], {"T": 1, "B": 1}, "-A +T -T +B"),
        (["A"], ["A"], {"T": 1, "A": 2}, "-A +T -T +A"),
        (
            ["A"],
            ["P.X.L", "P.Y.R"],
            {"P": 1, "P.X": 1, "P.X.L": 1, "P.Y": 1, "P.Y.R": 1},
            "-A +P +P.X +P.X.L +P.Y +P.Y.R",
        ),
        (["P.X.L", "P.Y.R"], ["P.X.M", "P.Y.R"], {"P.X.M": 1}, "-P.X.L +P.X.M"),
        (["P.X.L", "P.Y.R"], ["A"], {"A": 2}, "-P.Y.R -P.Y -P.X.L -P.X -P +A"),
        (["P.X.L", "P.Y.R"], ["D"], {"P.X.E": 1, "D": 1}, "-P.X.L +P.X.E -P.X.E -P.Y.R -P.Y -P.X -P +D"),
        (["P.X.L", "P.Y.R"], ["P.X.L", "P.Y.R"], {"P.Y.R": 2}, "-P.Y.R +P.Y.R"),
        (["P.X", "P.Y"], ["P.X", "P.Y"], {"P": 2, "P.X": 2, "P.Y": 2}, "-P.Y -P.X -P +P +P.X +P.Y"),
        (["A"], ["A"], {}, ""),
    ],
)
def test_moves_are_told_in_order(before: list[str], at: list[str], entries: dict[str, int], expected: str) -> None:
    """Innermost left first, outermost entered first; what was only gone through is left before the next is entered."""
    assert told(before, at, entries) == expected


def test_the_first_state_is_told_when_its_activity_begins() -> None:
    """Entering it is written with the end of its activity, and not told a second time then."""
    assert [(each.path, each.activation) for each in first_moves("W.A")] == [("W", 1), ("W.A", 1)]
    assert told([], ["W.B"], {"": 1, "W": 1, "W.A": 1, "W.B": 1}, begun="W.A") == "-W.A +W.B"


def test_the_first_state_may_be_entered_again_at_once() -> None:
    """Then it is left and entered, as at any other time."""
    assert told([], ["W.A"], {"": 1, "W": 1, "W.A": 2}, begun="W.A") == "-W.A +W.A"


def test_a_write_that_moves_nothing_is_silent() -> None:
    """An answer, for instance."""
    assert list(moves({"at": ["A"]}, {"status": "running"})) == []


def test_the_end_of_an_activity_is_called_done() -> None:
    """As in the history of a session."""
    delta = {"at": ["B"], "entries": {"B": 1}, "last": {"event": "done.activity.A"}}
    assert {each.event for each in moves({"at": ["A"]}, delta)} == {"done"}
