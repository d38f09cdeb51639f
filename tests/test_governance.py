"""Policies before they are in force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.errors import DefinitionError, NotExpected
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.governance import Policies, compare, compare_reach, read_policies, replay_policy, under_policy
from stateward.run.graph import ChartGraph
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven, policy
from tests.charts.one import One, compiled
from tests.charts.refunds import asking
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


async def looks(state: Any, run: sw.Run[Any]) -> Any:
    results = [await run.tool("lookup", order=str(number)) for number in range(state["number"])]
    return {"log": [result.status for result in results]}


def flips(driven: Driven, candidate: Policy, graph: ChartGraph | None = None) -> list[tuple[str, str, str]]:
    """What would have been decided otherwise."""
    session = driven.session
    found = replay_policy(session.database, candidate, graph=lambda _: graph or session.graph, sessions=[session.id])
    return [(flip.call.name, flip.call.before, flip.after.outcome) for flip in found.flips]


# -- recorded calls under another policy ---------------------------------------------------------------------


@pytest.mark.parametrize(("fuses", "handles"), [({"calls": 3}, ["fuse"]), ({"calls": 3}, []), ({}, [])])
def test_under_its_own_policy_nothing_flips(drive: Drive, fuses: dict[str, int], handles: list[str]) -> None:
    """A fuse that tripped trips again, at the same call."""
    ruled = Policy(name="p", fuses=Fuses(**fuses), tools=ToolPolicy(rules=(Rule(match="lookup", level="allowed"),)))
    driven = drive(compiled(looks, box=[Shop().lookup], policy=ruled, handles=handles))
    driven.start({"number": 4})
    assert flips(driven, ruled) == []


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_an_answered_question_is_a_question_again(drive: Drive, decision: str) -> None:
    """Whatever the answer was; under a policy that allows or forbids the tool it flips."""
    driven = drive(asking(Shop()))
    driven.answer(driven.start({"text": "x"}).asks[0], decision)
    ruled = policy("approve_refunds")
    open_to_all = Policy(name="approve_refunds", tools=ToolPolicy(default="allowed"))
    closed = Policy(name="approve_refunds", tools=ToolPolicy(rules=(Rule(match="lookup", level="allowed"),)))
    assert flips(driven, ruled) == []
    assert flips(driven, open_to_all) == [("refund", "ask", "allow")]
    assert flips(driven, closed) == [("refund", "ask", "deny")]


def test_a_limit_that_a_person_raised_is_raised_from_then_on(drive: Drive) -> None:
    """The trip before it stays a trip, the calls after it stay calls."""
    ruled = Policy(name="p", fuses=Fuses(calls=2))
    driven = drive(compiled(looks, box=[Shop().lookup], policy=ruled))
    driven.start({"number": 4})
    row = driven.session.database.sessions.get("s1")
    driven.session.database.ledger.raise_limit("s1", row.run, "WORK", "calls", 9, "ann", "more")
    assert driven.resume().status == "completed"
    assert flips(driven, ruled) == []


def test_what_was_revoked_stays_so(drive: Drive) -> None:
    """A denial by an operator is no flip under whatever policy."""
    driven = drive(asking(Shop()))
    asked = driven.start({"text": "x"})
    driven.session.database.revocations.add("refund", kind="tool", by="ann")
    driven.answer(asked.asks[0])
    denied = flips(driven, Policy(name="approve_refunds", tools=ToolPolicy(default="allowed")))
    assert ("refund", "deny", "allow") not in denied


def test_a_call_that_would_have_been_stopped_counts_for_the_next(drive: Drive) -> None:
    """The facts are as they were: all calls after the first flip, not every second one."""
    driven = drive(compiled(looks, box=[Shop().lookup], policy=Policy(name="p")))
    driven.start({"number": 4})
    assert flips(driven, Policy(name="p", fuses=Fuses(calls=1))) == [("lookup", "allow", "deny")] * 3


async def talks(state: Any, run: sw.Run[Any]) -> Any:
    model = run.model("talker")
    return {"messages": [await model.ainvoke("hi"), await model.ainvoke("again")]}


def test_model_calls_are_decided_with_what_they_cost(drive: Drive) -> None:
    """Under a fuse of one turn the second flips, and so does each under a fuse of no money where it cost some."""
    said = ScriptedModel.of("one", "two")
    price = {"usd_per_million_input": 1_000.0, "usd_per_million_output": 1_000.0}
    models = {"talker": sw.ModelRole(name="talker", model=said, max_output_tokens=50, **price)}
    driven = drive(compiled(talks, models=models, model="talker", policy=Policy(name="p")))
    assert driven.start({}).status == "completed"
    assert flips(driven, Policy(name="p")) == []
    assert flips(driven, Policy(name="p", fuses=Fuses(turns=1))) == [("talker", "allow", "deny")]
    assert flips(driven, Policy(name="p", fuses=Fuses(usd=0.0))) == [("talker", "allow", "deny")] * 2


def test_states_that_are_no_more_are_told(drive: Drive) -> None:
    """Nothing is said of their calls."""
    driven = drive(asking(Shop()))
    driven.start({"text": "x"})
    other = sw.Chart(
        "one",
        One,
        sw.State("NEW", do=looks, tools=["lookup"], to="DONE"),
        sw.Final("DONE"),
        policy=policy("approve_refunds"),
    )
    graph = other.compile(tools=[Shop().lookup])
    found = replay_policy(driven.session.database, policy("approve_refunds"), graph=lambda _: graph)
    assert (found.calls, found.strange) == (0, ("WORK.ACT",))


# -- putting a policy into a graph ----------------------------------------------------------------------------


def test_another_policy_stands_in_for_the_only_one() -> None:
    """The graph is the same otherwise, and the first one is left as it is."""
    graph = asking(Shop())
    other = under_policy(graph, Policy(name="other", fuses=Fuses(calls=7)))
    assert [limit.value for limit in other.machine.effectives[2].limits if limit.unit == "calls"] == [7]
    assert other.machine.pins.chart == graph.machine.pins.chart
    assert other.machine.pins.policy != graph.machine.pins.policy


def test_a_name_that_the_graph_has_not_is_refused() -> None:
    """With those it has."""
    with pytest.raises(DefinitionError, match="approve_refunds"):
        under_policy(asking(Shop()), Policy(name="other"), instead_of="nope")


# -- comparing ------------------------------------------------------------------------------------------------


def test_policies_of_two_runs_are_compared_state_by_state() -> None:
    """One that comes is told with its place."""
    old = Policies(word="a", by_path={"A": Policy(name="p", fuses=Fuses(calls=3))}, is_file=False)
    new = Policies(word="b", by_path={**old.by_path, "B": Policy(name="q", fuses=Fuses(turns=1))}, is_file=False)
    assert [(change.part, change.verdict) for change in compare(old, new)] == [("B: fuses.turns", "tighter")]


def test_a_file_is_compared_with_the_policy_of_its_name() -> None:
    """A run that had none of that name is refused."""
    run = Policies(
        word="a", by_path={"A": Policy(name="p", fuses=Fuses(calls=3)), "B": Policy(name="q")}, is_file=False
    )
    file = Policies(word="p.yaml", by_path={"": Policy(name="p")}, is_file=True)
    assert [(change.part, change.verdict) for change in compare(run, file)] == [("fuses.calls", "looser")]
    stranger = Policies(word="z.yaml", by_path={"": Policy(name="z")}, is_file=True)
    with pytest.raises(NotExpected, match="no policy `z`"):
        compare(stranger, run)


def test_a_hash_is_found_by_its_beginning(drive: Drive) -> None:
    """What runs were pinned to; several or none are refused."""
    driven = drive(asking(Shop()))
    driven.start({"text": "x"})
    database, pin = driven.session.database, driven.session.graph.machine.pins.policy
    assert read_policies(pin[:10].upper(), database=database).names == ("approve_refunds",)
    with pytest.raises(NotExpected, match="No run was pinned"):
        read_policies("abcdef0123", database=database)


def test_what_a_run_can_reach_is_compared() -> None:
    """Less, the same, or more; with ways."""
    graph = compiled(looks, box=[Shop().lookup], policy=Policy(name="p"))
    sides = [
        Policies(word=str(calls), by_path={"": Policy(name="p", fuses=Fuses(calls=calls))}, is_file=True)
        for calls in (None, 3, 5)
    ]
    compared = [
        next(each.compared for each in compare_reach(graph, one, other) if each.unit == "calls")
        for one in sides
        for other in sides
    ]
    assert compared == ["same", "less", "less", "more", "same", "more", "more", "less", "same"]
