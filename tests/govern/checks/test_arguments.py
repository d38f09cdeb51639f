"""A call passes only with arguments that meet every rule."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.govern.decision import Allow, CallRequest, Decision, Deny, decide
from stateward.govern.effective import effective
from stateward.govern.kinds.arguments import ArgumentRule
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy


def policy(*rules: ArgumentRule, **parts: Any) -> Policy:
    """Make a policy with rules on the arguments of every tool."""
    rule = Rule(match=".*", level="allowed", arguments=rules)
    return Policy(name="p", tools=ToolPolicy(rules=(rule,)), **parts)


def decided(arguments: dict[str, Any], *policies: Policy) -> Decision:
    """Decide about a call of `it`."""
    request = CallRequest(kind="tool", name="it", arguments=arguments, path="A", declared=frozenset({"it"}))
    return decide(effective([("A", each) for each in policies], path="A"), request=request, spent={})


def test_a_refusal_names_argument_expectation_and_rule() -> None:
    """So that a model can mend the call, and a person the policy."""
    refusal = decided({"amount": 80}, policy(ArgumentRule(name="amount", max=50)))
    assert isinstance(refusal, Deny)
    assert "argument `amount` of tool `it` must be a number, at most 50" in refusal.reason
    assert "tools.rules[0]" in refusal.rule


def test_every_rule_of_nested_policies_must_hold() -> None:
    """An inner rule is added to the outer one."""
    outer, inner = policy(ArgumentRule(name="amount", max=50)), policy(ArgumentRule(name="amount", min=10))
    assert [isinstance(decided({"amount": n}, outer, inner), Allow) for n in (5, 20, 80)] == [False, True, False]


def test_arguments_are_looked_at_before_limits() -> None:
    """A call that would be refused anyway trips no fuse."""
    refusal = decided({"amount": 80}, policy(ArgumentRule(name="amount", max=50), fuses=Fuses(calls=0)))
    assert isinstance(refusal, Deny)
    assert refusal.fuse is None


@pytest.mark.parametrize("huge", ["x" * 1_000_001, ["x"] * 1_000_001, {"x" * 1_000_001: 1}])
def test_huge_arguments_are_refused_before_any_rule_is_tried(huge: object) -> None:
    """Even where no rule is on the argument that is huge."""
    refusal = decided({"amount": 1, "note": huge}, policy(ArgumentRule(name="amount", max=50)))
    assert isinstance(refusal, Deny)
    assert "too large" in refusal.reason


def test_deep_arguments_are_refused() -> None:
    """No check may be brought to the end of its stack."""
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    assert isinstance(decided({"amount": deep}, policy(ArgumentRule(name="amount", max=50))), Deny)


def test_a_tool_without_rules_takes_what_it_likes() -> None:
    """Rules are for those who write them."""
    plain = Policy(name="p", tools=ToolPolicy(default="allowed"))
    assert decided({"note": "x" * 1_000_001}, plain) == Allow()


@pytest.mark.parametrize("name", ["ｉt", "іt", "IT", "it ", "it\u200b", "it\n"])
def test_a_look_alike_of_a_tool_is_another_tool(name: str) -> None:
    """It is declared nowhere, and no rule that names the tool lets it in."""
    allowing = Policy(name="p", tools=ToolPolicy(rules=(Rule(match="it", level="allowed"),)))
    request = CallRequest(kind="tool", name=name, arguments={}, path="A", declared=frozenset({"it"}))
    refusal = decide(effective([("A", allowing)], path="A"), request=request, spent={})
    assert isinstance(refusal, Deny)
    assert refusal.rule == "declared"
    assert effective([("A", allowing)], path="A").level(name).level == "forbidden"
