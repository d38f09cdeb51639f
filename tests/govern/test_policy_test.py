"""Cases that a policy decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from stateward.govern.effective import effective
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.govern.policy_test import Case, tried
from stateward.govern.request import CallRequest

DESK = Policy(
    name="desk",
    fuses=Fuses(calls=5),
    tools=ToolPolicy(rules=(Rule(match="look", level="allowed"), Rule(match="pay", level="restricted"))),
)
POLICY = effective([("WORK", DESK)], path="WORK.ACT", tools=["look", "pay", "mail"])


def came(name: str, expected: Any = "allow", **case: Any) -> tuple[str, bool]:
    """What a case came to, and whether that was expected."""
    declared = frozenset(["look", "pay", "mail"])
    request = CallRequest(kind="tool", name=name, arguments={}, path="WORK.ACT", declared=declared)
    found = tried(POLICY, case=Case(line=1, request=request, expected=expected, **case))
    return found.ruled.outcome, found.holds


@pytest.mark.parametrize(
    ("name", "case", "outcome"),
    [
        ("look", {}, "allow"),
        ("pay", {}, "ask"),
        ("pay", {"approved": True}, "allow"),
        ("mail", {}, "deny"),
        ("look", {"misfit": "no such argument"}, "deny"),
    ],
)
def test_a_case_comes_to_what_the_door_would_decide(name: str, case: dict[str, Any], outcome: str) -> None:
    """With the facts that it gives."""
    assert came(name, outcome, **case) == (outcome, True)


@pytest.mark.parametrize(
    ("spent", "outcome"),
    [({"calls": 5}, "deny"), ({"calls@WORK": 5}, "deny"), ({"calls@": 5}, "allow"), ({"calls": 4}, "allow")],
)
def test_what_was_spent_is_said_for_all_scopes_or_for_one(spent: Mapping[str, float], outcome: str) -> None:
    """The fuse hangs on WORK; the empty scope is the chart's own."""
    assert came("look", spent=spent)[0] == outcome


def test_the_rule_that_is_expected_must_be_named() -> None:
    """In the place of the rule, or in the reason."""
    assert came("mail", "deny", rule="tools.default") == ("deny", True)
    assert came("mail", "deny", rule="forbidden here") == ("deny", True)
    assert came("mail", "deny", rule="fuses") == ("deny", False)
