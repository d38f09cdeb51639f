"""One tool under two policies."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.govern.kinds.tools import Rule, ToolPolicy
from stateward.govern.policy import ArgumentRule
from stateward.govern.tool_diff import rulings_differ

NEVER: Any = object()


def rule(level: Any = "restricted", **said: Any) -> ToolPolicy:
    """A section that says something of the tool `pay`."""
    if "argument" in said:
        said["arguments"] = (ArgumentRule(name="to", **said.pop("argument")),)
    return ToolPolicy(rules=(Rule(match="pay", level=level, **said),))


@pytest.mark.parametrize(
    ("before", "after", "part", "verdict"),
    [
        (rule("allowed"), rule("restricted"), "level", "tighter"),
        (rule("restricted"), rule("allowed"), "level", "looser"),
        (None, rule("forbidden"), "level", "tighter"),
        (ToolPolicy(), rule("allowed"), "level", "looser"),
        (rule(max_calls=3), rule(max_calls=5), "max_calls", "looser"),
        (rule(), rule(max_calls=5), "max_calls", "tighter"),
        (rule(approvers=("ann", "bob")), rule(approvers=("bob",)), "approvers", "tighter"),
        (rule(approvers=("ann",)), rule(approvers=("bob",)), "approvers", "mixed"),
        (rule(approvals=2), rule(), "approvals", "looser"),
        (rule(), rule(four_eyes=True), "four_eyes", "tighter"),
        (rule(expires_s=60), rule(expires_s=30), "expires_s", "tighter"),
        (rule(cleared="internal"), rule(cleared="personal"), "cleared", "looser"),
        (rule(argument={"max": 5}), rule(argument={"max": 9}), "argument to.max", "looser"),
        (rule(argument={"min": 5}), rule(argument={"min": 9}), "argument to.min", "tighter"),
        (rule(argument={"hosts": ("a.b",)}), rule(argument={"hosts": ("a.b", "c.d")}), "argument to.hosts", "looser"),
        (rule(argument={"pattern": "a+"}), rule(argument={"pattern": "a*"}), "argument to.pattern", "mixed"),
        (rule(argument={"under": "a"}), rule(), "argument to.under", "looser"),
    ],
)  # fmt: skip
def test_each_part_is_compared_by_its_own_operator(before: Any, after: Any, part: str, verdict: str) -> None:
    """And nothing else is told."""
    ((found, _, _, came),) = rulings_differ(before, after, tool="pay")
    assert (found, came) == (part, verdict)


def test_of_a_tool_that_may_not_be_used_only_the_level_is_told() -> None:
    """Its other limits limit nothing."""
    found = rulings_differ(rule(max_calls=3), rule("forbidden"), tool="pay")
    assert [part for part, *_ in found] == ["level"]
