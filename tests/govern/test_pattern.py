"""Patterns from files run on RE2."""

from __future__ import annotations

import pytest

from stateward.errors import DefinitionError
from stateward.govern.pattern import compile_pattern


@pytest.mark.parametrize("text", ["(?=a)b", r"(a)\1", "(", "[z-a]"])
def test_what_re2_cannot_compile_is_refused(text: str) -> None:
    """Look-around, back-references and broken syntax are definition errors that quote the pattern."""
    with pytest.raises(DefinitionError, match="is not an RE2 pattern"):
        compile_pattern(text)


@pytest.mark.parametrize("text", [None, 3, "\ud800"])
def test_what_is_no_text_is_no_pattern(text: str) -> None:
    """Whatever cannot be a pattern is the same mistake."""
    with pytest.raises(DefinitionError, match="is not an RE2 pattern"):
        compile_pattern(text)


def test_a_nested_quantifier_takes_linear_time() -> None:
    """The pattern that stops a backtracking engine is answered at once."""
    assert compile_pattern("(a+)+b").fullmatch("a" * 50_000) is None


def test_case_can_be_ignored() -> None:
    """Case matters unless said otherwise."""
    assert compile_pattern("abc").fullmatch("ABC") is None
    assert compile_pattern("abc", case_sensitive=False).fullmatch("ABC") is not None
