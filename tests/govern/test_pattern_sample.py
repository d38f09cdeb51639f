"""Names made of a pattern."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.errors import DefinitionError
from stateward.govern.pattern import compile_pattern
from stateward.govern.pattern_sample import MOST, samples


@pytest.mark.parametrize(
    ("pattern", "some"),
    [
        ("refund", {"refund"}),
        ("(read|write)_file", {"read_file", "write_file"}),
        ("send_(?:mail|sms)?", {"send_", "send_mail", "send_sms"}),
        ("lookup_.*", {"lookup_"}),
        ("mcp__\\w+", {"mcp__x"}),
        ("foo\\.bar", {"foo.bar"}),
        ("v[0-9]{2,3}", {"v00", "v999"}),
        ("[^x]y", {"zy"}),
        ("^pay$", {"pay"}),
    ],
)
def test_each_way_of_a_pattern_is_taken(pattern: str, some: set[str]) -> None:
    """Alternatives, repetition, classes and sets."""
    assert some <= set(samples(pattern))


@pytest.mark.parametrize("pattern", ["(?i)pay", "\\pL+", "[[:alpha:]]+"])
def test_of_a_pattern_that_is_not_understood_there_is_none(pattern: str) -> None:
    """Rather than a wrong one."""
    assert samples(pattern) == ()


@given(st.text("ab_.*+?()[]|\\{}01,^$", max_size=12))
def test_what_is_made_always_matches(pattern: str) -> None:
    """Of whatever RE2 takes, and never too many."""
    try:
        compiled = compile_pattern(pattern)
    except DefinitionError:
        return
    made = samples(pattern)
    assert len(made) <= MOST
    assert all(compiled.fullmatch(name) for name in made)
