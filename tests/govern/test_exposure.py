"""Who is not cleared for a state's data is found before any run."""

from __future__ import annotations

from typing import Any

from stateward.chart.state import Final, State, Superstate
from stateward.govern.exposure import exposures
from stateward.govern.ground import ToolFacts
from stateward.govern.kinds.models import ModelRule, RoleRule
from stateward.govern.policy import Data, Policy, Rule, ToolPolicy
from tests.govern.grounds import ground, work

PERSONAL = Policy(name="personal", data=Data(sensitivity="personal"))
LOOK = {"look": ToolFacts(effect="pure", cleared="personal")}


def found(policy: Policy, inner: Policy | None = None, **known: Any) -> list[tuple[str, str]]:
    """Return severity and message of each finding about a state that has a tool and a model."""
    state = State("ASK", do=work, tools=["look"], model="writer", policy=inner, to="END")
    chart = ground([Superstate("DESK", state, policy=policy), Final("END")], **known)
    return [(each.severity, each.message) for each in exposures(chart)]


def test_tool_and_model_that_are_not_cleared_are_errors() -> None:
    """Each is named, with its class and the place that says how sensitive the data is."""
    tool, model = found(PERSONAL, tools={"look": ToolFacts(effect="pure")}, models={"writer": "internal"})
    assert (tool[0], model[0]) == ("error", "error")
    assert "tool `look` is cleared for public data only" in tool[1]
    assert "`DESK.ASK` works on personal data (DESK" in model[1]
    assert "model `writer` is cleared for internal data only" in model[1]


def test_what_is_cleared_is_no_finding() -> None:
    """Neither is what nobody knows here."""
    assert found(PERSONAL, tools=LOOK, models={"writer": "secret"}) == []
    assert found(PERSONAL) == []


def test_rule_of_a_policy_lowers_what_a_tool_is_cleared_for() -> None:
    """A policy can only tighten."""
    lowered = Policy(name="lowered", tools=ToolPolicy(rules=(Rule(match="look", level="allowed", cleared="internal"),)))
    assert [severity for severity, _ in found(PERSONAL, lowered, tools=LOOK)] == ["error"]


def test_role_that_would_answer_in_its_place_is_a_warning() -> None:
    """The call is made all the same, and that role is left out."""
    rule = RoleRule(role="writer", rule=ModelRule(fallback=("backup",)))
    policy = Policy(name="personal", data=Data(sensitivity="personal"), models=(rule,))
    (other,) = found(policy, models={"writer": "personal", "backup": "public"})
    assert other[0] == "warning"
    assert "`backup`, which would answer for `writer`" in other[1]
