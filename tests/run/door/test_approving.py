"""What people have said about a call, found when its activity is entered again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

import stateward as sw
from stateward.govern.decision import CallRequest, NeedsApproval
from stateward.govern.effective import effective
from stateward.govern.fingerprint import fingerprint
from stateward.govern.policy import Policy, Rule, ToolPolicy
from stateward.run.door.activation import Activation
from stateward.run.door.approving import Approving
from stateward.run.door.report import Report
from stateward.run.door.signal import Suspend
from stateward.run.door.tool import Tool, ToolResult
from stateward.run.door.wanted import Wanted
from stateward.run.store.database import Database, open_database
from stateward.run.store.entry import Entry

AT = Activation(session="s", run="r", branch="main", path="A", number=1)
NEED = NeedsApproval(reason="restricted", rule="r")


@sw.tool(effect="once")
def refund(eur: int) -> str:
    """Pay back."""
    return f"paid {eur}"


def wanted(tool: Tool, arguments: Mapping[str, Any], call: int = 1) -> Wanted:
    """Make a wanted call."""
    parsed = tool.parse(arguments)
    request = CallRequest(kind="tool", name=tool.name, arguments=parsed, path="A", declared=frozenset({tool.name}))
    print_of = fingerprint(tool.name, arguments=parsed)
    entry = Entry(key=AT.key(call), kind="tool", name=tool.name, fingerprint=print_of, arguments=parsed, effect="once")
    return Wanted(tool=tool, arguments=parsed, request=request, entry=entry)


@pytest.fixture
def database() -> Iterator[Database]:
    with open_database("memory:") as opened:
        yield opened


@pytest.fixture
def approving(database: Database) -> Approving:
    policy = Policy(name="p", tools=ToolPolicy(rules=(Rule(match="refund", level="restricted"),)))
    return Approving(
        database=database,
        activation=AT,
        effective=effective([("", policy)], path="A", tools=["refund"]),
        fence=None,
        report=Report(database, AT),
        playing=None,
        tools={"refund": refund},
        make=wanted,
    )


def asked(approving: Approving, call: Wanted, need: NeedsApproval = NEED) -> str:
    """Let it ask, and store the question as a step does."""
    with pytest.raises(Suspend) as raised:
        approving.answered(call, need)
    (ask,) = approving._database.asks.create(raised.value.asks)  # pyright: ignore[reportPrivateUsage]
    return ask.id


def test_it_asks_until_enough_people_approve(approving: Approving, database: Database) -> None:
    """Then the call is let pass."""
    call, need = wanted(refund, {"eur": 3}), replace(NEED, approvals=2)
    ask = asked(approving, call, need)
    database.asks.answer(ask, decision="approve", by="ann")
    with pytest.raises(Suspend):
        approving.answered(call, need)
    database.asks.answer(ask, decision="approve", by="bob")
    assert approving.answered(call, need) is None


def test_an_approval_of_other_arguments_is_none(approving: Approving, database: Database) -> None:
    """It is a question of its own."""
    database.asks.answer(asked(approving, wanted(refund, {"eur": 3})), decision="approve", by="ann")
    with pytest.raises(Suspend):
        approving.answered(wanted(refund, {"eur": 300}), NEED)


def test_an_edit_makes_another_call_of_it(approving: Approving, database: Database) -> None:
    """Approved by who edited it, since one is enough."""
    call = wanted(refund, {"eur": 3})
    database.asks.answer(asked(approving, call), decision="edit", by="ann", arguments={"eur": 2})
    edited = approving.current(call, None)
    assert isinstance(edited, Wanted)
    assert (edited.arguments, edited.edit and edited.edit.by) == ({"eur": 2}, "ann")
    assert approving.answered(edited, NEED) is None
    with pytest.raises(Suspend):
        approving.answered(edited, replace(NEED, approvers=("bob",)))


def test_a_call_that_was_made_edited_is_found_again(approving: Approving, database: Database) -> None:
    """Also where the question stands on another branch."""
    call = wanted(refund, {"eur": 3})
    database.asks.answer(asked(approving, call), decision="edit", by="ann", arguments={"eur": 2})
    made = wanted(refund, {"eur": 2}).entry
    there = replace(call, entry=replace(call.entry, key=replace(call.entry.key, branch="main.1")))
    found = approving.current(there, replace(made, key=there.entry.key))
    assert isinstance(found, Wanted)
    assert found.entry.fingerprint == made.fingerprint


def test_an_edit_to_no_call_is_told_to_the_activity(approving: Approving, database: Database) -> None:
    """One that was recorded where nobody knew the tools."""
    call = wanted(refund, {"eur": 3})
    database.asks.answer(asked(approving, call), decision="edit", by="ann", tool="nope", arguments={})
    told = approving.current(call, None)
    assert isinstance(told, ToolResult)
    assert told.status == "denied"
