"""Rules that hold for nothing are found: most are misspelt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stateward.chart.state import Final, State
from stateward.govern.ground import ToolFacts
from stateward.govern.idle import idle
from stateward.govern.kinds.arguments import ArgumentRule
from stateward.govern.kinds.models import ModelRule, RoleRule
from stateward.govern.policy import Policy, Rule, ToolPolicy, Window
from tests.govern.grounds import ground, work

PAY = {"pay": ToolFacts(effect="pure", arguments=frozenset({"order", "eur"}))}


def ruled(match: str, *names: str) -> Policy:
    rules = tuple(ArgumentRule(name=name, required=True) for name in names)
    return Policy(name="p", tools=ToolPolicy(rules=(Rule(match=match, level="allowed", arguments=rules),)))


def roles(*names: str, **rest: Any) -> Policy:
    rules = tuple(RoleRule(role=name, rule=ModelRule(tries=2, fallback=("spare",))) for name in names)
    return Policy(name="p", models=rules, **rest)


def found(policy: Policy, *, tools: Mapping[str, ToolFacts] = PAY, do: Any = work) -> Sequence[tuple[str, str]]:
    state = State("A", do=do, tools=["pay"], model="writer", to="DONE", policy=policy)
    return [(one.severity, one.message) for one in idle(ground([state, Final("DONE")], tools=tools))]


def test_a_rule_on_an_argument_that_no_tool_has_is_found() -> None:
    """The message names the key of the policy, and the arguments there are."""
    ((severity, message),) = found(ruled("p.*", "order.id", "euro"))
    assert severity == "warning"
    assert message.startswith(
        "No tool of `p.*` (`pay`) has an argument `euro` (A (code): tools.rules[0].arguments.euro)"
    )
    assert message.endswith("Known are `eur`, `order`.")


def test_nothing_is_said_of_tools_whose_arguments_nobody_knows() -> None:
    """They may have any."""
    assert found(ruled("pay", "euro"), tools={}) == []
    assert found(ruled("pay", "euro"), tools={"pay": ToolFacts(effect="pure")}) == []


def test_rules_on_arguments_of_a_tool_that_nobody_declares_are_found() -> None:
    """One without arguments may be a general one."""
    ((severity, message),) = found(ruled("pya", "order"))
    assert (severity, "of `pya` hold for no tool that a state inside declares" in message) == ("warning", True)
    assert found(ruled("pya")) == []


def test_a_role_that_no_state_uses_is_found() -> None:
    """Roles that answer in another's place, or sum up what a window leaves out, are used."""
    ((severity, message),) = found(roles("writer", "wirter"))
    assert (severity, message.partition(" (")[0]) == ("warning", "No state inside uses the role `wirter`")
    window = Window(max_messages=6, keep_last=2, summary="small")
    assert found(roles("writer", "spare", "small", window=window)) == []


def test_an_agent_may_have_tools_and_roles_of_its_own() -> None:
    """Nobody declares them: nothing is said of its tools, and a role is noted."""

    class Agent:
        def invoke(self, state: Any) -> None: ...

        def __call__(self, state: Any) -> None: ...

    assert found(ruled("pya", "order"), do=Agent()) == []
    assert [severity for severity, _ in found(roles("wirter"), do=Agent())] == ["note"]
