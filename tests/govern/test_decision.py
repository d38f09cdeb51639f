"""Decisions are values, made in a fixed order, and a fuse trips before the call."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.govern.decision import (
    OF_THE_CALL,
    OF_THE_RUN,
    ORDER,
    Allow,
    CallKind,
    CallRequest,
    Decision,
    Deny,
    NeedsApproval,
    charges,
    decide,
)
from stateward.govern.effective import Effective, effective
from stateward.govern.policy import Fuses, Level, Policy, Rule, ToolPolicy


def ask(name: str, *, kind: CallKind = "tool", usd: float | None = 0.0) -> CallRequest:
    """Make a call that its state declares."""
    return CallRequest(
        kind=kind, name=name, arguments={}, path="WORKING.ACT", declared=frozenset({name}), estimate_usd=usd
    )


def denied(decision: Decision) -> Deny:
    """Expect a refusal."""
    assert isinstance(decision, Deny)
    return decision


def test_what_the_state_does_not_declare_is_refused(inside: Effective) -> None:
    """The declaration comes before every other check."""
    request = replace(ask("delete_account"), declared=frozenset({"search_kb"}))
    refusal = denied(decide(inside, request=request, spent={}))
    assert refusal.rule == "declared"
    assert "`search_kb`" in refusal.reason


def test_a_forbidden_tool_is_refused_even_when_approved(inside: Effective) -> None:
    """A person's approval does not lift a prohibition."""
    refusal = denied(decide(inside, request=ask("delete_account"), spent={}, approved=True))
    assert refusal.rule.endswith("tools.rules[2] `delete_.*`")
    assert refusal.fuse is None


@pytest.mark.parametrize("level", ["RESTRICTED", "alowed", None, ["allowed"]])
@pytest.mark.parametrize("approved", [False, True])
def test_what_is_no_level_never_runs(inside: Effective, level: Level, approved: bool) -> None:
    """A level that nobody knows is `forbidden`, approved or not."""
    ruling = replace(inside.rulings["search_kb"], level=level)
    odd = replace(inside, rulings={**inside.rulings, "search_kb": ruling})
    assert "forbidden" in denied(decide(odd, request=ask("search_kb"), spent={}, approved=approved)).reason


def test_a_limit_that_is_no_number_trips(inside: Effective) -> None:
    """NaN is neither more nor less than anything, and lets nothing through."""
    raised = {("WORKING", "calls"): float("nan")}
    assert denied(decide(inside, request=ask("search_kb"), spent={}, raised=raised)).fuse == "calls"


def test_an_allowed_tool_runs(inside: Effective) -> None:
    """Nothing spent, nothing restricted: the call may run."""
    assert decide(inside, request=ask("search_kb"), spent={}) == Allow()


def test_a_restricted_tool_needs_one_of_its_approvers(inside: Effective) -> None:
    """The decision names who may approve; once approved, the call may run."""
    needed = decide(inside, request=ask("issue_refund"), spent={})
    assert isinstance(needed, NeedsApproval)
    assert needed.approvers == ("ann", "bob")
    assert decide(inside, request=ask("issue_refund"), spent={}, approved=True) == Allow()


def test_a_call_that_nobody_may_approve_is_refused() -> None:
    """Layers whose approvers have nobody in common refuse."""
    chain = [
        (
            scope,
            Policy(name=scope, tools=ToolPolicy(rules=(Rule(match=".*", level="restricted", approvers=who),))),
        )
        for scope, who in (("A", ("ann",)), ("A.B", ("bob",)))
    ]
    assert "nobody" in denied(decide(effective(chain, path="A.B"), request=ask("x"), spent={})).reason


def test_the_sixth_call_of_a_tool_is_refused_without_a_fuse(inside: Effective) -> None:
    """A tool's own count is an observation for the model, not a fuse of the run."""
    unit = ("WORKING", "calls:lookup_order")
    assert decide(inside, request=ask("lookup_order"), spent={unit: 4}) == Allow()
    assert denied(decide(inside, request=ask("lookup_order"), spent={unit: 5})).fuse is None


FUSES = [
    (ask("search_kb"), "calls", 20),
    (ask("planner", kind="model"), "turns", 12),
    (ask("planner", kind="model", usd=0.01), "usd", 0.5),
]


@pytest.mark.parametrize(("request_", "fuse", "limit"), FUSES)
def test_a_fuse_trips_before_the_call_that_would_pass_it(
    inside: Effective, request_: CallRequest, fuse: str, limit: float
) -> None:
    """At the limit the next call is refused, with the fuse and its scope."""
    refusal = denied(decide(inside, request=request_, spent={("WORKING", fuse): limit}))
    assert (refusal.fuse, refusal.scope) == (fuse, "WORKING")


def test_money_may_be_spent_to_the_last_cent(inside: Effective) -> None:
    """The fuse trips above its limit, and rounding of floats does not trip it."""
    spent = {("WORKING", "usd"): 0.1 + 0.1 + 0.1}
    assert decide(inside, request=ask("planner", kind="model", usd=0.2), spent=spent) == Allow()
    assert denied(decide(inside, request=ask("planner", kind="model", usd=0.2001), spent=spent)).fuse == "usd"


def test_a_call_without_a_bound_is_refused_under_a_money_fuse(inside: Effective) -> None:
    """What cannot be bounded cannot be reserved."""
    refusal = denied(decide(inside, request=ask("planner", kind="model", usd=None), spent={}))
    assert "no known bound" in refusal.reason
    free = effective([], path="A")
    assert decide(free, request=ask("planner", kind="model", usd=None), spent={}) == Allow()


def test_a_fuse_trips_before_a_person_is_asked(inside: Effective) -> None:
    """Nobody is asked about a call that would be refused anyway."""
    assert denied(decide(inside, request=ask("issue_refund"), spent={("WORKING", "calls"): 20})).fuse == "calls"


def test_model_calls_do_not_count_as_tool_calls(inside: Effective) -> None:
    """The calls fuse is for tools, the turn fuse for models."""
    assert decide(inside, request=ask("planner", kind="model"), spent={("WORKING", "calls"): 20}) == Allow()


def test_the_parents_fuse_trips_inside_a_child(deep: Effective) -> None:
    """What was spent elsewhere in WORKING counts in WORKING.ACT."""
    refusal = denied(decide(deep, request=ask("planner", kind="model"), spent={("WORKING", "turns"): 12}))
    assert refusal.scope == "WORKING"


def test_a_raised_limit_lets_the_run_go_on(inside: Effective) -> None:
    """A person can raise a limit for this run."""
    spent, raised = {("WORKING", "turns"): 12.0}, {("WORKING", "turns"): 20.0}
    assert decide(inside, request=ask("planner", kind="model"), spent=spent, raised=raised) == Allow()


def test_a_call_is_charged_in_every_scope(deep: Effective) -> None:
    """The chart's total, the parent's and the child's scope all take the charge, with their limits."""
    found = [(c.scope, c.unit, c.amount, c.limit) for c in charges(deep, request=ask("p", kind="model", usd=0.05))]
    assert found == [
        ("", "turns", 1, None),
        ("WORKING", "turns", 1, 12),
        ("WORKING.ACT", "turns", 1, 3),
        ("", "usd", 0.05, None),
        ("WORKING", "usd", 0.05, 0.5),
        ("WORKING.ACT", "usd", 0.05, 0.1),
    ]


def test_a_tool_call_is_charged_by_name_and_in_total(inside: Effective) -> None:
    """A discovered tool is charged as a known one is."""
    units = [(c.unit, c.limit) for c in charges(inside, request=ask("lookup_new")) if c.scope == "WORKING"]
    assert units == [("calls:lookup_new", 5), ("calls", 20), ("usd", 0.5)]


@given(turns=st.integers(0, 6), usd=st.integers(0, 40), costs=st.lists(st.integers(0, 9), max_size=20))
def test_no_sequence_of_calls_passes_a_limit(turns: int, usd: int, costs: list[int]) -> None:
    """Whatever the calls cost, what was allowed stays within both fuses."""
    policy = Policy(name="p", fuses=Fuses(turns=turns, usd=usd / 100))
    state = effective([("A", policy)], path="A")
    spent: dict[tuple[str, str], float] = {}
    for cost in costs:
        request = ask("m", kind="model", usd=cost / 100)
        if isinstance(decide(state, request=request, spent=spent), Allow):
            for charge in charges(state, request=request):
                key = (charge.scope, charge.unit)
                spent[key] = spent.get(key, 0.0) + charge.amount
    assert spent.get(("A", "turns"), 0) <= turns
    assert round(spent.get(("A", "usd"), 0), 9) <= usd / 100


def test_both_halves_of_the_checks_are_all_of_them() -> None:
    """A call that goes straight is asked all that another one is asked."""
    assert sorted([*OF_THE_CALL, *OF_THE_RUN], key=ORDER.index) == list(ORDER)
