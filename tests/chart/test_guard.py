"""Functions take what they name."""

from __future__ import annotations

import functools

import pytest

from stateward.chart.guard import bind, bind_all, bind_pure
from stateward.errors import DefinitionError


def test_the_first_parameter_is_the_state_whatever_its_name() -> None:
    """`def f(s)` gets the state."""
    assert bind(lambda s: s, where="A")("state", "event") == "state"


def test_other_parameters_take_what_they_are_named_after() -> None:
    """State, event and run are given by name, in any order, positional or not."""
    named = ("state", "event", "run")
    assert bind(lambda event: event, where="A")("s", "e") == "e"
    assert bind(lambda s, event: (s, event), where="A")("s", "e") == ("s", "e")
    assert bind(lambda run, state: (run, state), where="A", allowed=named)("s", "e", "r") == ("r", "s")

    def keyword_only(s: object, *, event: object) -> object:
        return (s, event)

    assert bind(keyword_only, where="A")("s", "e") == ("s", "e")


def test_a_function_may_take_nothing() -> None:
    """A function without parameters is called without any."""
    assert bind(lambda: 7, where="A")("s", "e") == 7


def test_an_unknown_parameter_is_named_with_what_is_allowed() -> None:
    """The message says which function, which parameter, and which would do."""

    def guard(state: object, evnet: object) -> bool:
        return True

    with pytest.raises(DefinitionError, match=r"guard` names the parameter `evnet`.*`state`, `event`"):
        bind(guard, where="A")


@pytest.mark.parametrize("fn", [lambda state, run: 0, lambda *args: 0, lambda state, **more: 0, 7, dict.update])
def test_what_cannot_be_given_is_refused(fn: object) -> None:
    """No `run` for the pure, no catch-all parameters, nothing that is not callable."""
    with pytest.raises(DefinitionError):
        bind(fn, where="A")


def test_a_partial_hides_what_it_has_filled() -> None:
    """Parameters that a partial fills are not asked for."""

    def above(state: int, limit: int) -> bool:
        return state > limit

    bound = bind(functools.partial(above, limit=3), where="A")
    assert bound(4)
    assert bound.name.endswith("above")


def test_guards_and_actions_cannot_be_async() -> None:
    """The kernel cannot wait, so it refuses what would have to."""

    async def guard(state: object) -> bool:
        return True

    assert bind(guard, where="A").is_async
    with pytest.raises(DefinitionError, match="async"):
        bind_pure(guard, where="A")
    with pytest.raises(DefinitionError, match="async"):
        bind_all([guard], where="A")
