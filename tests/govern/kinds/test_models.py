"""Model rules are folded role by role."""

from __future__ import annotations

import pytest

from stateward.govern.kinds.models import (
    DEFAULT_BREAK_AFTER,
    DEFAULT_BREAK_S,
    DEFAULT_WAIT_S,
    ModelRule,
    RoleRule,
    tightened,
)


def test_a_role_that_both_policies_name_gets_the_stricter_of_each_part() -> None:
    """Fewer tries, a longer break, and the fallbacks that both allow, in the outer order."""
    outer = RoleRule(role="planner", rule=ModelRule(tries=3, break_s=5.0, fallback=("a", "b")))
    inner = RoleRule(role="planner", rule=ModelRule(tries=2, break_s=9.0, fallback=("b", "a", "c")))
    held = ModelRule(tries=2, break_s=9.0, fallback=("a", "b"))
    assert tightened([outer], inner=[inner]) == (RoleRule(role="planner", rule=held),)


def test_a_role_that_one_policy_names_keeps_its_rule() -> None:
    """Roles come back by name."""
    one, two = RoleRule(role="b", rule=ModelRule(tries=1)), RoleRule(role="a", rule=ModelRule(tries=2))
    assert tightened([one], inner=[two]) == (two, one)


@pytest.mark.parametrize(
    ("rule", "attempts", "wait_s"),
    [
        (ModelRule(), 1, DEFAULT_WAIT_S),
        (ModelRule(tries=3), 3, DEFAULT_WAIT_S),
        (ModelRule(wait_s=5.0), 2, 5.0),
        (ModelRule(tries=1, wait_s=5.0), 1, 5.0),
    ],
    ids=str,
)
def test_a_wait_before_the_second_attempt_says_that_there_is_one(rule: ModelRule, attempts: int, wait_s: float) -> None:
    """No part of a rule is there for nothing."""
    assert (rule.attempts, rule.first_wait_s) == (attempts, wait_s)


@pytest.mark.parametrize(
    ("rule", "breaker"),
    [
        (ModelRule(tries=2), (False, DEFAULT_BREAK_AFTER, DEFAULT_BREAK_S)),
        (ModelRule(break_after=2), (True, 2, DEFAULT_BREAK_S)),
        (ModelRule(break_s=9.0), (True, DEFAULT_BREAK_AFTER, 9.0)),
    ],
    ids=str,
)
def test_either_part_makes_a_breaker(rule: ModelRule, breaker: tuple[bool, int, float]) -> None:
    """The other has a default."""
    assert (rule.has_breaker, rule.opens_after, rule.opens_for_s) == breaker
