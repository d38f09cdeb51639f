"""Policies only tighten from the outside in, and every part remembers where it came from."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.errors import DefinitionError, PolicyLoosened
from stateward.govern.effective import Effective, effective
from stateward.govern.policy import ContractSpec, FieldSpec, Fuses, Level, Policy, Rule, ToolPolicy, Window
from stateward.govern.ruling import rank

LEVELS: tuple[Level, ...] = ("allowed", "restricted", "forbidden")


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


def test_without_a_policy_everything_declared_is_allowed() -> None:
    """No policy means no limit, and the origin says so."""
    free = effective([], path="A")
    assert (free.level("x").level, free.level("x").origin, free.limits) == ("allowed", "no policy", ())
    assert (free.microsteps, free.mode) == (1000, "strict")


def test_a_tool_section_forbids_what_it_does_not_name(inside: Effective) -> None:
    """An unknown tool falls to the default, which forbids."""
    assert inside.level("drop_table").level == "forbidden"
    assert inside.level("drop_table").origin.endswith("tools.default")


def test_a_rule_matches_the_whole_name(inside: Effective) -> None:
    """A pattern that matches a part of a name does not match the name."""
    assert inside.level("lookup_order").level == "allowed"
    assert inside.level("my_lookup_order").level == "forbidden"


def test_the_first_matching_rule_wins_inside_one_policy() -> None:
    """A later rule cannot override an earlier one."""
    section = ToolPolicy(rules=(Rule(match="t.*", level="restricted"), Rule(match="tool", level="allowed")))
    assert fold(policy("p", tools=section)).level("tool").level == "restricted"


def test_limits_keep_their_scopes(deep: Effective) -> None:
    """The parent's fuse and the child's hold side by side."""
    turns = [(limit.scope, limit.value) for limit in deep.limits if limit.unit == "turns"]
    assert turns == [("WORKING", 12), ("WORKING.ACT", 3)]


def test_a_child_without_a_limit_leaves_its_parents(deep: Effective) -> None:
    """A child that says nothing about calls stays under the parent's calls fuse."""
    assert [limit.scope for limit in deep.limits if limit.unit == "calls"] == ["WORKING"]


def test_per_tool_counts_become_limits(deep: Effective) -> None:
    """A rule's count is a limit on each tool it matches, in its scope."""
    counts = [(limit.scope, limit.value) for limit in deep.limits_on("lookup_order")]
    assert counts == [("WORKING", 5), ("WORKING.ACT", 2)]


def test_an_unknown_tool_is_counted_like_a_known_one(deep: Effective) -> None:
    """A tool discovered at run time has the counts of the rules that match it."""
    assert [limit.value for limit in deep.limits_on("lookup_later")] == [5, 2]


def test_timeout_and_window_take_the_strictest(deep: Effective) -> None:
    """What is not counted is folded to the smallest value."""
    assert deep.call_timeout_s == 5
    assert deep.window == Window(max_messages=6, keep_last=4)


def test_what_parent_and_child_forbid_is_forbidden_by_the_parent(deep: Effective) -> None:
    """Of two rulings of the same strength the outer one is named."""
    assert deep.level("delete_account").level == "forbidden"
    assert deep.level("delete_account").origin.startswith("WORKING (")


def test_strict_wins_over_any_other_mode() -> None:
    """One strict policy makes the state strict."""
    lenient = replace(policy("l"), mode="lenient")
    assert fold(lenient, policy("s")).mode == "strict"
    assert fold(lenient).mode == "lenient"


def test_explain_names_the_place_of_every_part(deep: Effective) -> None:
    """Whoever asks why is told the scope, the file and the key."""
    rows = {(row.part, row.value): row.origin for row in deep.explain()}
    assert rows["limit turns", 3] == "WORKING.ACT (policies/tighter.yaml): fuses.turns"
    assert rows["tool issue_refund", "restricted"] == ("WORKING (policies/working.yaml): tools.rules[1] `issue_refund`")
    assert rows["call_timeout_s", 5] == "WORKING.ACT (policies/tighter.yaml): call_timeout_s"


def test_the_hash_is_that_of_the_policies_and_their_places(working: Policy) -> None:
    """States under the same policies share a hash; a policy on another state gives another."""
    plan = effective([("WORKING", working)], path="WORKING.PLAN")
    act = effective([("WORKING", working)], path="WORKING.ACT")
    other = effective([("OTHER", working)], path="OTHER")
    assert plan.hash == act.hash != other.hash


def test_a_child_may_add_a_contract(working: Policy) -> None:
    """Contracts of all layers are known inside, and a repeated one is known once."""
    reply = ContractSpec(name="Reply", fields=(FieldSpec(name="text", type="str"),))
    child = replace(policy("child"), contracts=(reply, *working.contracts))
    both = fold(working, child)
    assert [spec.name for spec in both.contracts] == ["Ticket", "Reply"]
    assert both.contract("Reply") == reply


def test_an_unknown_contract_lists_the_known_ones(inside: Effective) -> None:
    """A state that asks for a missing contract is told which there are."""
    with pytest.raises(DefinitionError, match="Known contracts: `Ticket`"):
        inside.contract("Tickets")


def test_approvers_of_a_discovered_tool_are_those_all_layers_accept() -> None:
    """Where loosening could not be seen in advance, the approvers are intersected."""
    parent = policy("p", tools=rules("x.*", level="restricted", approvers=("ann", "bob")))
    child = policy("c", tools=rules("x.*", level="restricted", approvers=("bob", "cyd")))
    assert fold(parent, child, tools=()).level("xyz").approvers == ("bob",)


def test_the_shortest_wait_for_an_approval_holds_and_says_where_it_was_written() -> None:
    """A child that says nothing about it inherits it."""
    parent = policy("p", tools=rules("pay", level="restricted", expires_s=60))
    child = policy("c", tools=rules("pay", level="restricted"))
    both = fold(parent, child, tools=("pay",))
    assert both.level("pay").expires_s == 60
    assert [row.value for row in both.explain() if row.part == "expires_s pay"] == [60]


counts = st.none() | st.integers(0, 9)
sections = st.none() | st.builds(
    ToolPolicy,
    default=st.sampled_from(LEVELS),
    rules=st.lists(
        st.builds(Rule, match=st.sampled_from(("a", "b", "[ab]")), level=st.sampled_from(LEVELS), max_calls=counts),
        max_size=3,
    ).map(tuple),
)
policies = st.builds(
    Policy,
    name=st.just("p"),
    fuses=st.builds(Fuses, turns=counts, calls=counts, usd=counts),
    tools=sections,
    call_timeout_s=st.none() | st.floats(1, 9),
)


def least(policy: Effective, *, unit: str) -> float:
    """Return the smallest limit of a unit."""
    return min((limit.value for limit in policy.limits if limit.unit == unit), default=float("inf"))


@given(st.lists(policies, min_size=1, max_size=3))
def test_an_added_layer_never_loosens(chain: list[Policy]) -> None:
    """A chain that is accepted is at least as strict as the chain without its last policy."""
    layers = list(zip(("A", "A.B", "A.B.C"), chain, strict=False))
    try:
        whole = effective(layers, path="X", tools=("a", "b"))
    except PolicyLoosened:
        return
    outer = effective(layers[:-1], path="X", tools=("a", "b"))
    for tool in ("a", "b", "unknown"):
        assert rank(whole.level(tool).level) >= rank(outer.level(tool).level)
    for unit in ("turns", "calls", "usd", "calls:a", "calls:b"):
        assert least(whole, unit=unit) <= least(outer, unit=unit)
    assert (whole.call_timeout_s or 99) <= (outer.call_timeout_s or 99)


@given(policies)
def test_a_policy_put_on_twice_changes_nothing(one: Policy) -> None:
    """A policy may be repeated on a child; nothing but the added scope follows from it."""
    once = effective([("A", one)], path="A", tools=("a", "b"))
    twice = effective([("A", one), ("A", one)], path="A", tools=("a", "b"))
    assert (once.limits, once.rulings, once.call_timeout_s) == (
        twice.limits,
        twice.rulings,
        twice.call_timeout_s,
    )
