"""Rulings combine to the stricter one, in whatever order they are combined."""

from __future__ import annotations

from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.govern.policy import Level, Rule, ToolPolicy
from stateward.govern.ruling import Ruling, known_level, rank, ruling_in

LEVELS: tuple[Level, ...] = ("allowed", "restricted", "forbidden")


def test_the_default_decides_when_no_rule_matches() -> None:
    """A ruling made by default says that no rule named the tool."""
    ruling = ruling_in(ToolPolicy(rules=(Rule(match="a", level="allowed"),)), tool="ab", place="here")
    assert (ruling.level, ruling.explicit, ruling.origin) == ("forbidden", False, "here: tools.default")


@pytest.mark.parametrize("level", ["RESTRICTED", "alowed", "", None, 0, True, ["allowed"], {}])
def test_what_is_no_level_forbids(level: Level) -> None:
    """Whoever gets past the checks of a policy gets nothing for it."""
    unknown = Ruling(tool="tool", level=level, origin="one")
    weakest = Ruling(tool="tool", level="allowed", origin="two")
    assert rank(level) == rank("forbidden")
    assert known_level(weakest.tighten(unknown).level) == known_level(unknown.tighten(weakest).level) == "forbidden"
    rule = forged(Rule(match="t.*", level="allowed"), "level", level)
    assert ruling_in(ToolPolicy(rules=(rule,)), tool="tool", place="here").level == "forbidden"
    assert ruling_in(forged(ToolPolicy(), "default", level), tool="tool", place="here").level == "forbidden"


@pytest.mark.parametrize("match", ["(", "(?=a)", None])
def test_a_pattern_that_cannot_be_read_forbids(match: str) -> None:
    """It may have been meant for this tool, so no later rule frees it."""
    broken = forged(Rule(match="x", level="allowed"), "match", match)
    section = ToolPolicy(default="allowed", rules=(broken, Rule(match=".*", level="allowed")))
    assert ruling_in(section, tool="tool", place="here").level == "forbidden"


Forged = TypeVar("Forged")


def forged(part: Forged, key: str, value: object) -> Forged:
    """Change a frozen part behind its checks, as a bad pickle would."""
    object.__setattr__(part, key, value)
    return part


people = st.none() | st.frozensets(st.sampled_from("abc")).map(lambda names: tuple(sorted(names)))
rulings = st.builds(
    Ruling,
    tool=st.just("tool"),
    level=st.sampled_from(LEVELS),
    origin=st.sampled_from(("one", "two", "three")),
    max_calls=st.none() | st.integers(0, 5),
    approvers=people,
    expires_s=st.none() | st.floats(1, 9),
    explicit=st.booleans(),
)


@given(rulings, rulings, rulings)
def test_tightening_is_associative(one: Ruling, two: Ruling, three: Ruling) -> None:
    """It does not matter which layers are folded first."""
    assert one.tighten(two).tighten(three) == one.tighten(two.tighten(three))


@given(rulings)
def test_tightening_is_idempotent(one: Ruling) -> None:
    """Saying a thing twice says nothing new."""
    assert one.tighten(one) == one


@given(rulings, rulings)
def test_tightening_never_loosens(one: Ruling, two: Ruling) -> None:
    """The result is at least as strict as either part."""
    both = one.tighten(two)
    for part in (one, two):
        assert rank(both.level) >= rank(part.level)
        assert part.max_calls is None or (both.max_calls is not None and both.max_calls <= part.max_calls)
        assert part.expires_s is None or (both.expires_s is not None and both.expires_s <= part.expires_s)
        assert part.approvers is None or set(both.approvers or ()) <= set(part.approvers)
