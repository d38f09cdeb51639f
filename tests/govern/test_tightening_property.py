"""Tightening, whole: what any policy of a chain refuses, the chain refuses, whatever the order and the overlays."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import stateward as sw
from stateward.errors import ConfigError, PolicyLoosened
from stateward.govern.decision import CallRequest, Deny, NeedsApproval, decide
from stateward.govern.effective import Effective, effective
from stateward.govern.kinds.arguments import ArgumentRule
from stateward.govern.policy import Fuses, Level, Policy, Rule, ToolPolicy
from stateward.govern.verdict import Decision

TOOLS = ("look", "pay", "wipe")
NAMES = ("A", "A.B", "A.B.C", "A.B.C.D")
PEOPLE = ("ann", "bob", "carl")
LEVELS: st.SearchStrategy[Level] = st.sampled_from(("allowed", "restricted", "forbidden"))
SOME = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
)


@st.composite
def rule(draw: st.DrawFn) -> Rule:
    """Any rule on any of the tools."""
    level = draw(LEVELS)
    arguments = draw(st.sampled_from([(), (ArgumentRule(name="usd", max=10.0),), (ArgumentRule(name="usd", min=5.0),)]))
    asked: dict[str, Any] = {}
    if level == "restricted":
        who = draw(st.sampled_from([None, PEOPLE, PEOPLE[:2], PEOPLE[2:]]))
        asked = {"approvers": who, "approvals": draw(st.sampled_from([None, 1]))}
    return Rule(
        match=draw(st.sampled_from(["look", "pay", "wipe", "look|pay", ".*", "w.*"])),
        level=level,
        max_calls=draw(st.none() | st.integers(0, 3)),
        arguments=arguments,
        **asked,
    )


@st.composite
def policy(draw: st.DrawFn) -> Policy:
    """Any policy on what a call is decided by."""
    number = st.none() | st.integers(1, 4)
    tools = st.none() | st.builds(ToolPolicy, default=LEVELS, rules=st.lists(rule(), max_size=3).map(tuple))
    return Policy(
        name="p",
        fuses=Fuses(calls=draw(number), turns=draw(number), usd=draw(st.none() | st.sampled_from([0.1, 1.0]))),
        tools=draw(tools),
    )


CHAINS = st.lists(policy(), min_size=1, max_size=3)
SPENT = st.dictionaries(
    st.tuples(st.sampled_from(["", *NAMES]), st.sampled_from(["calls", "turns", *(f"calls:{t}" for t in TOOLS)])),
    st.integers(0, 4).map(float),
    max_size=6,
)


@st.composite
def request(draw: st.DrawFn) -> CallRequest:
    """Any call of one of the tools, or of a model."""
    is_tool = draw(st.booleans())
    return CallRequest(
        kind="tool" if is_tool else "model",
        name=draw(st.sampled_from(TOOLS)) if is_tool else "m",
        arguments={"usd": draw(st.sampled_from([1, 5, 7, 10, 11]))},
        path=NAMES[-1],
        declared=frozenset({*TOOLS, "m"}),
        estimate_usd=draw(st.none() | st.sampled_from([0.0, 0.05, 0.5])),
    )


def folded(chain: Sequence[tuple[str, Policy]]) -> Effective | None:
    """The fold of a chain; None when it is refused when the chart is built."""
    with suppress(PolicyLoosened):
        return effective(list(chain), path=NAMES[-1], tools=TOOLS)
    return None


def strictness(decision: Decision) -> int:
    """How far a decision goes: allow, ask, deny."""
    return 2 if isinstance(decision, Deny) else 1 if isinstance(decision, NeedsApproval) else 0


@SOME
@given(CHAINS, request(), SPENT)
def test_what_a_part_of_a_chain_refuses_the_whole_chain_refuses(
    chain: list[Policy], wanted: CallRequest, spent: dict[tuple[str, str], float]
) -> None:
    """Every sub-chain, each policy in the place it has in the whole."""
    placed = list(zip(NAMES, chain, strict=False))
    whole = folded(placed)
    assume(whole is not None)
    assert whole is not None
    decided = strictness(decide(whole, request=wanted, spent=spent))
    for left_out in range(len(placed)):
        for part in (placed[:left_out], placed[:left_out] + placed[left_out + 1 :]):
            fold = folded(part)
            assert fold is None or strictness(decide(fold, request=wanted, spent=spent)) <= decided


@SOME
@given(CHAINS, policy(), request(), SPENT)
def test_what_needs_no_chart_holds_for_tools_that_nobody_knew(
    chain: list[Policy], inner: Policy, wanted: CallRequest, spent: dict[tuple[str, str], float]
) -> None:
    """Without known tools nothing can be compared when the chart is built: the fold alone only tightens."""
    outer = list(zip(NAMES, chain, strict=False))
    try:
        before = effective(outer, path=NAMES[-1], tools=())
        after = effective([*outer, (NAMES[len(outer)], inner)], path=NAMES[-1], tools=())
    except PolicyLoosened:
        return
    one, two = (decide(each, request=wanted, spent=spent) for each in (before, after))
    assert strictness(one) <= strictness(two)


@SOME
@given(CHAINS, request(), SPENT)
def test_the_same_policy_twice_in_one_place_changes_nothing(
    chain: list[Policy], wanted: CallRequest, spent: dict[tuple[str, str], float]
) -> None:
    """Tightening is idempotent."""
    placed = list(zip(NAMES, chain, strict=False))
    once, twice = folded(placed), folded([*placed, placed[-1]])
    assert (once is None) == (twice is None)
    if once is not None and twice is not None:
        one, two = (decide(each, request=wanted, spent=spent) for each in (once, twice))
        assert (type(one), getattr(one, "rule", "")) == (type(two), getattr(two, "rule", ""))


WORDS = {
    "fuses.calls": ("1", "2", "9"),
    "fuses.turns": ("1", "9"),
    "tools.default": ("allowed", "restricted", "forbidden"),
    "mode": ("strict", "lenient"),
    "observe": ("true", "false"),
}
OVERLAYS = st.dictionaries(st.sampled_from(sorted(WORDS)), st.integers(0, 2), max_size=4)
CHILD = """
version: 1
tools: {rules: [{match: look, level: allowed}, {match: pay, level: restricted}]}
modes:
  strict: {tools: {rules: [{match: look, level: forbidden}]}}
  lenient: {fuses: {calls: 9}, tools: {rules: [{match: ".*", level: allowed}]}}
"""


def said(overlay: dict[str, int]) -> dict[str, str]:
    return {key: WORDS[key][number % len(WORDS[key])] for key, number in overlay.items()}


@SOME
@given(environment=OVERLAYS, overrides=OVERLAYS, wanted=request(), spent=SPENT)
def test_no_overlays_of_a_child_loosen_its_parent(
    tmp_path_factory: Any,
    environment: dict[str, int],
    overrides: dict[str, int],
    wanted: CallRequest,
    spent: dict[tuple[str, str], float],
) -> None:
    """Modes, environment and overrides, in any mixture: the child is refused, or the parent holds."""
    file: Path = tmp_path_factory.getbasetemp() / "child.yaml"
    file.write_text(CHILD)
    parent = Policy(
        name="parent", fuses=Fuses(calls=2), tools=ToolPolicy(rules=(Rule(match="look", level="restricted"),))
    )
    env = {f"STATEWARD_POLICY__{key.upper().replace('.', '__')}": word for key, word in said(environment).items()}
    try:
        child = sw.load_policy(
            file, env=env, overrides=[f"policy.{key}={word}" for key, word in said(overrides).items()]
        )
    except ConfigError:
        return
    alone, both = folded([("A", parent)]), folded([("A", parent), ("A.B", child)])
    assert alone is not None
    if both is not None:
        one, two = (decide(each, request=wanted, spent=spent) for each in (alone, both))
        assert strictness(one) <= strictness(two)
