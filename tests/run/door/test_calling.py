"""What runs inside a call: agents get numbers of their own, the same ones whenever the call is entered again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from stateward.run.door.activation import Activation
from stateward.run.door.calling import TURNS, Calling, around, inside


def calling(*, call: int = 1, **place: Any) -> Calling:
    at: dict[str, Any] = {"session": "s", "run": "r", "branch": "main", "path": "A", "number": 1, **place}
    return Calling(door=SimpleNamespace(activation=Activation(**at)), call=call)


def test_agents_of_a_call_have_numbers_of_their_own() -> None:
    """The first, the second, another agent's: none has another's."""
    one = calling()
    numbers = [one.base("A/x"), one.base("A/x"), one.base("A/y")]
    assert len(set(numbers)) == 3
    assert all(number % TURNS == 0 and 0 < number < 2**63 for number in numbers)


def test_numbers_are_the_same_when_a_call_is_entered_again() -> None:
    """The journal answers then."""
    assert [calling().base("A/x") for _ in range(2)] == [calling().base("A/x")] * 2


def test_other_calls_give_other_numbers() -> None:
    """Of another call, activation or state."""
    places: list[dict[str, Any]] = [{}, {"call": 2}, {"number": 2}, {"path": "B"}]
    assert len({calling(**place).base("A/x") for place in places}) == 4


def test_the_innermost_call_is_around() -> None:
    """And knows the one that it is made in."""
    assert around() is None
    outer = calling()
    with inside(lambda: outer):
        inner = calling()
        with inside(lambda: inner):
            assert around() is inner
        assert around() is outer
    assert (inner.around, outer.around, around()) == (outer, None, None)
