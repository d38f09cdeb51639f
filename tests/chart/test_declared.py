"""A function may say by itself what contract its output keeps."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from stateward.chart.declared import declare_output, declared_output, output_of
from stateward.errors import DefinitionError


def write(state: Any, size: int = 1) -> dict[str, Any]:
    """An activity."""
    return {}


@pytest.fixture
def marked() -> Any:
    """An activity with a contract."""

    @functools.wraps(write)
    def another(state: Any, size: int = 1) -> dict[str, Any]:
        return write(state, size)

    return declare_output(another, "Ticket")


def test_a_mark_is_found_through_what_is_put_around(marked: Any) -> None:
    """Partials and wrappers of a function are that function."""

    @functools.wraps(marked)
    def around(state: Any) -> Any:
        return marked(state)

    found = [declared_output(each) for each in (marked, functools.partial(marked, size=2), around)]
    assert found == ["Ticket"] * 3


def test_a_method_carries_the_mark_of_its_function() -> None:
    """Activities are often methods."""

    class Desk:
        def write(self, state: Any) -> dict[str, Any]:
            return {}

    declare_output(Desk.write, "Ticket")
    assert declared_output(Desk().write) == "Ticket"


def test_one_contract_is_enough(marked: Any) -> None:
    """Two gates on one activity are a mistake, wherever they stand."""
    with pytest.raises(DefinitionError, match="has a gate already"):
        declare_output(marked, "Letter")
    with pytest.raises(DefinitionError, match="has a gate of its own"):
        output_of(marked, "Letter", where="WRITE")
    assert output_of(marked, None, where="WRITE") == "Ticket"
    assert output_of(write, "Letter", where="WRITE") == "Letter"


def test_what_cannot_carry_a_mark_is_refused() -> None:
    """The state can say it instead."""
    with pytest.raises(DefinitionError, match="say `output=` at the state"):
        declare_output(len, "Ticket")
