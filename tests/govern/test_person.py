"""Whether two names are those of one person."""

from __future__ import annotations

import pytest

from stateward.govern.person import both_among, is_among, people, person


@pytest.mark.parametrize(
    "name", ["ann", "Ann", " ANN ", "\uff41nn", "a\u200bnn", "ann\ufe0f", "a\u034fnn", "ann\u3164"]
)
def test_a_name_is_the_same_however_it_is_written(name: str) -> None:
    """Capitals, widths, blanks around and letters that nobody sees tell no people apart."""
    assert person(name) == "ann"
    assert is_among(name, ["Bob", "ANN"])


@pytest.mark.parametrize("between", ["\t", "\n", "\u2028", "\u00a0", "\u200b \u200b"])
def test_white_space_of_any_kind_is_a_blank(between: str) -> None:
    """It looks like one."""
    assert person(f"ann{between}lee") == "ann lee"


def test_another_alphabet_is_another_name() -> None:
    """Letters that only look alike are not folded."""
    assert not is_among("\u0430nn", ["ann"])
    assert len(people(["ann", "Ann", "\u0430nn"])) == 2


def test_what_two_lists_have_is_told_as_the_inner_one_writes_it() -> None:
    """So that it is never wider than the inner one."""
    assert both_among(["Ann", "bob"], ["ann", "eve"]) == ("ann",)
