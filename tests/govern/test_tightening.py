"""A child policy that would loosen its parent's is refused when the chart is built."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stateward.errors import PolicyLoosened
from stateward.govern.effective import Effective, effective
from stateward.govern.policy import ContractSpec, FieldSpec, Fuses, Level, Policy, Rule, ToolPolicy, Window


def policy(name: str, *, tools: ToolPolicy | None = None, fuses: Fuses | None = None) -> Policy:
    """Make a policy that says little."""
    return Policy(name=name, source=f"{name}.yaml", tools=tools, fuses=fuses or Fuses())


def rules(match: str, *, level: Level, **more: object) -> ToolPolicy:
    """Make a tool section of one rule."""
    return ToolPolicy(rules=(replace(Rule(match=match, level=level), **more),))


def fold(*policies: Policy, tools: tuple[str, ...] = ("tool",)) -> Effective:
    """Fold policies on nested states A, A.B, A.B.C."""
    names = ("A", "A.B", "A.B.C")
    return effective(list(zip(names, policies, strict=False)), path="A.B.C", tools=tools)


LOOSER: list[tuple[Policy, Policy]] = [
    (policy("p", fuses=Fuses(turns=2)), policy("c", fuses=Fuses(turns=3))),
    (policy("p", fuses=Fuses(usd=0.1)), policy("c", fuses=Fuses(usd=0.2))),
    (policy("p", fuses=Fuses(calls=2)), policy("c", fuses=Fuses(calls=3))),
    (policy("p", fuses=Fuses(microsteps=2)), policy("c", fuses=Fuses(microsteps=3))),
    (replace(policy("p"), call_timeout_s=1.0), replace(policy("c"), call_timeout_s=2.0)),
    (
        replace(policy("p"), window=Window(max_messages=8, keep_last=4)),
        replace(policy("c"), window=Window(max_messages=8, keep_last=5)),
    ),
    (
        policy("p", tools=rules("tool", level="restricted")),
        policy("c", tools=rules("to.*", level="allowed")),
    ),
    (policy("p", tools=ToolPolicy()), policy("c", tools=rules("tool", level="restricted"))),
    (policy("p", tools=ToolPolicy()), policy("c", tools=ToolPolicy(default="allowed"))),
    (policy("p", tools=ToolPolicy(default="restricted")), policy("c", tools=ToolPolicy(default="allowed"))),
    (
        policy("p", tools=rules("tool", level="allowed", max_calls=1)),
        policy("c", tools=rules("tool", level="allowed", max_calls=2)),
    ),
    (
        policy("p", tools=rules("tool", level="restricted", approvers=("ann",))),
        policy("c", tools=rules("tool", level="restricted", approvers=("ann", "bob"))),
    ),
    (
        policy("p", tools=rules("tool", level="restricted", expires_s=60.0)),
        policy("c", tools=rules("tool", level="restricted", expires_s=61.0)),
    ),
]


@pytest.mark.parametrize(("parent", "child"), LOOSER)
def test_a_child_that_loosens_is_refused_with_both_places(parent: Policy, child: Policy) -> None:
    """The error names the child's place and the parent's, also with a silent policy between them."""
    with pytest.raises(PolicyLoosened) as refused:
        fold(parent, policy("silent"), child)
    assert "A (p.yaml)" in str(refused.value)
    assert "A.B.C (c.yaml)" in str(refused.value)


@pytest.mark.parametrize(("parent", "child"), LOOSER)
def test_the_same_two_the_other_way_round_are_accepted(parent: Policy, child: Policy) -> None:
    """What loosens as a child tightens as a parent."""
    assert fold(child, parent).layers[1].policy == parent


def test_a_child_that_leaves_its_default_unset_loosens_nothing() -> None:
    """An unset default is `forbidden`, which is as strict as any."""
    child = policy("c", tools=rules("tool", level="allowed"))
    assert fold(policy("p", tools=ToolPolicy(default="allowed")), child).level("other").level == "forbidden"


def ticket(**more: object) -> ContractSpec:
    """Make a contract of one field."""
    return replace(ContractSpec(name="Ticket", fields=(FieldSpec(name="id", type="str"),)), **more)


def test_a_child_may_not_redefine_a_contract() -> None:
    """Two different contracts of one name are refused."""
    with pytest.raises(PolicyLoosened, match="contract `Ticket` differs"):
        fold(replace(policy("p"), contracts=(ticket(),)), replace(policy("c"), contracts=(ticket(retries=9),)))
