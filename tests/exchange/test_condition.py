"""The language of conditions."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.errors import DefinitionError
from stateward.exchange.condition import read_condition, write_condition
from stateward.exchange.registry import Registry


def is_ready(state: Any) -> bool:
    """A guard."""
    return state["ready"]


def above(state: Any, event: Any, *, limit: int) -> bool:
    """A guard with an argument."""
    return state["n"] > limit


REGISTRY = Registry.of(guards={"is_ready": is_ready, "math.above": above, "is ready!": is_ready})


def read(text: str) -> Any:
    return read_condition(text, registry=REGISTRY, locate=lambda id: f"P.{id}", where="here")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("is_ready", True),
        ("not is_ready", False),
        ("math.above(limit=3)", False),
        ("is_ready and math.above(limit=2)", True),
        ("not is_ready or math.above(limit=-1)", True),
        ("is_ready and not (In('a') or math.above(limit=3))", True),
        ("In('b')", True),
        (" is_ready ", True),
    ],
)
def test_a_condition_says_what_it_reads_like_and_is_written_as_it_was_read(text: str, expected: bool) -> None:
    """Paths of states come from their ids."""
    guard = read(text)
    assert guard({"ready": True, "n": 3}, None, active=lambda: frozenset({"P.b"})) is expected
    written = write_condition(guard, registry=REGISTRY, locate=lambda path: path.removeprefix("P."), where="here")
    assert written == text.strip()


def test_a_name_alone_is_the_guard_itself() -> None:
    """It keeps the function's own name, whatever it goes by in the registry."""
    assert (read("is ready!").fn, read("is ready!").name) == (is_ready, "is_ready")


OTHERS = ["x > 1", "is_ready()+1", "above(3)", "In()", "In('a', 'b')", "above(limit=n)", "f(**a)", "(", "", "a.b[0]"]


@pytest.mark.parametrize("text", [*OTHERS, "a." * 600, "not " * 300 + "a"])
def test_everything_else_is_refused_with_the_known_guards(text: str) -> None:
    """Nothing is evaluated."""
    with pytest.raises(DefinitionError, match=r"is not understood|is not among"):
        read(text)
    with pytest.raises(DefinitionError, match=r"Known guards: .*`is_ready`"):
        read(text)


def test_a_name_that_is_none_cannot_stand_beside_others() -> None:
    """Alone it can."""
    odd = Registry.of(guards={"is ready!": is_ready})
    with pytest.raises(DefinitionError, match="`is ready!` cannot stand in a condition with others"):
        write_condition(read("not is_ready"), registry=odd, locate=str, where="here")
