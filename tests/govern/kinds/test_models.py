"""Model rules are folded role by role."""

from __future__ import annotations

from stateward.govern.kinds.models import ModelRule, RoleRule, named, tightened


def test_a_role_that_both_policies_name_gets_the_stricter_of_each_part() -> None:
    """Fewer tries, a longer break, and the fallbacks that both allow, in the outer order."""
    outer = RoleRule(role="planner", rule=ModelRule(tries=3, break_s=5.0, fallback=("a", "b")))
    inner = RoleRule(role="planner", rule=ModelRule(tries=2, break_s=9.0, fallback=("b", "a", "c")))
    assert dict(named(tightened([outer], inner=[inner]))) == {
        "planner": ModelRule(tries=2, break_s=9.0, fallback=("a", "b"))
    }


def test_a_role_that_one_policy_names_keeps_its_rule() -> None:
    """Roles come back by name."""
    one, two = RoleRule(role="b", rule=ModelRule(tries=1)), RoleRule(role="a", rule=ModelRule(tries=2))
    assert tightened([one], inner=[two]) == (two, one)
