"""What works on classified data uses only what is cleared for it."""

from __future__ import annotations

import pytest

from stateward.govern.decision import Allow, CallKind, CallRequest, Decision, Deny, decide
from stateward.govern.effective import effective
from stateward.govern.policy import Data, Policy, Rule, ToolPolicy

PERSONAL = Policy(name="personal", data=Data(sensitivity="personal"))


def asked(*policies: Policy, kind: CallKind = "model", cleared: str = "public") -> Decision:
    """Ask for a call of something with a clearance."""
    request = CallRequest(
        kind=kind,
        name="it",
        arguments={},
        path="A",
        declared=frozenset({"it"}),
        cleared=cleared,  # pyright: ignore
    )
    return decide(effective([("A", each) for each in policies], path="A"), request=request, spent={})


@pytest.mark.parametrize("kind", ["model", "tool"])
@pytest.mark.parametrize(
    ("cleared", "runs"), [("public", False), ("internal", False), ("personal", True), ("secret", True)]
)
def test_it_must_be_cleared_for_the_data(kind: CallKind, cleared: str, runs: bool) -> None:
    """At least for the class of the state."""
    assert (asked(PERSONAL, kind=kind, cleared=cleared) == Allow()) is runs


def test_the_strictest_class_of_nested_policies_holds() -> None:
    """An inner policy may mark its data as more sensitive."""
    refusal = asked(PERSONAL, Policy(name="inner", data=Data(sensitivity="secret")), cleared="personal")
    assert isinstance(refusal, Deny)
    assert "secret data" in refusal.reason


def test_a_rule_can_take_a_clearance_away() -> None:
    """But give none."""
    rule = Rule(match="it", level="allowed", cleared="internal")
    limited = Policy(name="p", data=Data(sensitivity="personal"), tools=ToolPolicy(rules=(rule,)))
    assert isinstance(asked(limited, kind="tool", cleared="secret"), Deny)


def test_unmarked_data_may_go_anywhere() -> None:
    """Without a class nothing is checked."""
    assert asked(Policy(name="plain")) == Allow()
