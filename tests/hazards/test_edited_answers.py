"""An edited call is another call: every check runs on it, and the record shows both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from stateward.errors import GovernanceError, InputRefused
from stateward.govern.kinds.arguments import ArgumentRule
from stateward.govern.policy import Policy, Rule, ToolPolicy
from stateward.replay import replay
from stateward.testing import run_graph
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


@pytest.fixture
def shop() -> Shop:
    return Shop()


async def pay(state: Any, run: sw.Run[Any]) -> Any:
    """One call that people are asked about, and one after it."""
    paid = await run.tool("refund", order="A1", eur=3)
    looked = await run.tool("lookup", order="L")
    return {"log": [paid.name, paid.status, paid.value, looked.status]}


def pay_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    paid = run.tool("refund", order="A1", eur=3)
    looked = run.tool("lookup", order="L")
    return {"log": [paid.name, paid.status, paid.value, looked.status]}


@pytest.fixture
def do(how: str) -> Any:
    """The activity, in the form of the way it is driven."""
    return pay if how == "async" else pay_sync


def answered(driven: Driven, ask: str, decision: Any, *, by: str = "ann", **said: Any) -> Any:
    """Answer in the way it is driven."""
    if driven.how == "sync":
        return driven.session.answer(ask, decision, by=by, **said)
    return asyncio.run(driven.session.aanswer(ask, decision, by=by, **said))


def governed(shop: Shop, do: Any, *, mail: Any = "restricted", tools: Any = None, **refund: Any) -> Any:
    """A chart whose refunds are asked about."""
    cap = ArgumentRule(name="eur", max=10)
    rules = (
        Rule(match="refund", level="restricted", arguments=(cap,), **refund),
        Rule(match="mail", level=mail),
        Rule(match=".*", level="allowed"),
    )
    box = tools or ["lookup", "refund", "mail"]
    return compiled(do, box=shop.box, tools=box, policy=Policy(name="p", tools=ToolPolicy(rules=rules)))


def test_an_edited_call_is_made_in_the_place_of_the_one_shown(drive: Drive, shop: Shop, do: Any) -> None:
    """Whoever edits it approves it by that; the journal has what was made, and the calls after it go on."""
    driven = drive(governed(shop, do))
    (ask,) = driven.start({"text": "x"}).asks
    ended = answered(driven, ask, "edit", arguments={"order": "B2", "eur": 5})
    assert (ended.status, ended.values["log"]) == ("completed", ["refund", "ok", {"refunded": "B2"}, "ok"])
    assert shop.effects == [("refund", "B2"), ("lookup", "L")]
    (made, _) = driven.session.database.journal.entries("s1")
    assert made.arguments == {"order": "B2", "eur": 5}


def test_an_edit_that_breaks_a_rule_is_denied(drive: Drive, shop: Shop, do: Any) -> None:
    """A person may not edit past the policy either."""
    driven = drive(governed(shop, do))
    (ask,) = driven.start({"text": "x"}).asks
    ended = answered(driven, ask, "edit", arguments={"order": "B2", "eur": 50})
    assert ended.values["log"][:2] == ["refund", "denied"]
    assert "at most 10" in str(ended.values["log"][2])
    assert shop.done("refund") == []


def test_an_edit_to_a_restricted_tool_has_an_ask_of_its_own(drive: Drive, shop: Shop, do: Any) -> None:
    """Editing a refund approves no mail."""
    driven = drive(governed(shop, do))
    (ask,) = driven.start({"text": "x"}).asks
    waits = answered(driven, ask, "edit", tool="mail", arguments={"to": "b@x.org"})
    assert (waits.status, shop.effects) == ("waiting", [])
    (other,) = waits.asks
    asked = driven.session.database.asks.get(other)
    assert (asked.tool, asked.arguments, asked.answers) == ("mail", {"to": "b@x.org"}, ())
    ended = answered(driven, other, "approve", by="bob")
    assert ended.values["log"][:3] == ["mail", "ok", "sent"]


@pytest.mark.parametrize(("mail", "came"), [("allowed", "ok"), ("forbidden", "denied")])
def test_an_edit_to_another_tool_applies_its_policy(drive: Drive, shop: Shop, do: Any, mail: str, came: str) -> None:
    """What is allowed runs, what is forbidden does not."""
    driven = drive(governed(shop, do, mail=mail))
    (ask,) = driven.start({"text": "x"}).asks
    ended = answered(driven, ask, "edit", tool="mail", arguments={"to": "b@x.org"})
    assert ended.values["log"][:2] == ["mail", came]
    assert shop.done("mail") == (["b@x.org"] if came == "ok" else [])


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"tool": "broken", "arguments": {"order": "x"}}, "does not declare"),
        ({"arguments": {"order": 1}}, "does not fit"),
        ({"arguments": {"order": "B2", "more": 1}}, "does not fit"),
        ({}, "names no arguments"),
    ],
)
def test_an_edit_that_leads_to_no_call_leaves_the_ask_open(
    drive: Drive, shop: Shop, do: Any, said: dict[str, Any], why: str
) -> None:
    """Nothing runs."""
    driven = drive(governed(shop, do))
    (ask,) = driven.start({"text": "x"}).asks
    with pytest.raises((InputRefused, GovernanceError), match=why):
        answered(driven, ask, "edit", **said)
    assert (driven.session.outcome().asks, shop.effects) == ((ask,), [])


def test_an_edit_may_be_edited(drive: Drive, shop: Shop, do: Any) -> None:
    """The last one counts."""
    driven = drive(governed(shop, do, approvals=2))
    (ask,) = driven.start({"text": "x"}).asks
    (second,) = answered(driven, ask, "edit", arguments={"order": "B2"}).asks
    assert driven.session.database.asks.get(second).progress == "1 of 2"
    (third,) = answered(driven, second, "edit", by="bob", arguments={"order": "C3"}).asks
    assert answered(driven, third, "approve").values["log"][2] == {"refunded": "C3"}
    assert shop.done("refund") == ["C3"]


def test_an_edit_back_to_what_was_edited_is_no_call(drive: Drive, shop: Shop, do: Any) -> None:
    """Two people who undo each other's edits get nothing done."""
    driven = drive(governed(shop, do, approvals=2))
    (ask,) = driven.start({"text": "x"}).asks
    (second,) = answered(driven, ask, "edit", arguments={"order": "B2"}).asks
    ended = answered(driven, second, "edit", by="bob", arguments={"order": "A1", "eur": 3})
    assert (ended.values["log"][1], shop.done("refund")) == ("rejected", [])


def test_the_audit_log_shows_both_calls(drive: Drive, shop: Shop, do: Any) -> None:
    """The one that was shown and the one that was made."""
    driven = drive(governed(shop, do))
    (ask,) = driven.start({"text": "x"}).asks
    answered(driven, ask, "edit", arguments={"order": "B2", "eur": 5})
    records = [row.record for row in driven.session.database.audit.rows("s1")]
    (answer,) = [each for each in records if each["event"] == "answered"]
    assert (answer["shown"]["arguments"], answer["edited"]["arguments"]) == (
        {"order": "A1", "eur": 3},
        {"order": "B2", "eur": 5},
    )
    assert driven.session.database.audit.verify()


def test_an_edit_in_langchains_form_is_one(drive: Drive, shop: Shop, do: Any) -> None:
    """As its inbox sends it."""
    driven = drive(governed(shop, do))
    driven.start({"text": "x"})
    decision = {"type": "edit", "edited_action": {"name": "refund", "args": {"order": "B2"}}}
    driven.send(Command(resume={"decisions": [decision], "by": "ann"}))
    assert shop.done("refund") == ["B2"]


def test_an_answer_in_the_place_of_the_tool_is_what_the_model_is_told(drive: Drive, shop: Shop, do: Any) -> None:
    """Nothing is called, and it is no result either."""
    driven = drive(governed(shop, do))
    (ask,) = driven.start({"text": "x"}).asks
    ended = answered(driven, ask, "respond", note="It was paid by hand.")
    assert ended.values["log"][:3] == ["refund", "rejected", "It was paid by hand."]
    assert shop.done("refund") == []


def test_an_edited_run_plays_again(drive: Drive, shop: Shop, do: Any) -> None:
    """The record has the answers, and so the same call."""
    driven = drive(governed(shop, do, approvals=2))
    (ask,) = driven.start({"text": "x"}).asks
    (second,) = answered(driven, ask, "edit", arguments={"order": "B2"}).asks
    assert answered(driven, second, "approve", by="bob").status == "completed"
    (played,) = replay(driven.session)
    assert played.divergence is None


def test_a_branch_that_is_forked_after_an_edit_knows_it(drive: Drive, shop: Shop, do: Any) -> None:
    """Asked about what came of the edit, an approval there is enough; the call is made once on each branch."""
    driven = drive(governed(shop, do, approvals=2))
    (ask,) = driven.start({"text": "x"}).asks
    (second,) = answered(driven, ask, "edit", arguments={"order": "B2"}).asks
    answered(driven, second, "approve", by="bob")
    past = next(one.config for one in driven.checkpoints if second in str(one.values.get("stateward", {}).get("asks")))
    run_graph(driven.session.graph, None, how=driven.how, config=past)
    (again,) = driven.session.outcome().asks
    answered(driven, again, "approve", by="cyd")
    assert answered(driven, again, "approve", by="bob").status == "completed"
    assert shop.done("refund") == ["B2", "B2"]


async def pay_twice(state: Any, run: sw.Run[Any]) -> Any:
    """Two calls that people are asked about, one after the other."""
    return {"log": [(await run.tool("refund", order=order)).value for order in ("A1", "A2")]}


def pay_twice_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": [run.tool("refund", order=order).value for order in ("A1", "A2")]}


def test_a_branch_inherits_a_call_that_was_edited(drive: Drive, shop: Shop, how: str) -> None:
    """It was made before the fork, and is not made again."""
    driven = drive(governed(shop, pay_twice if how == "async" else pay_twice_sync))
    (first,) = driven.start({"text": "x"}).asks
    (second,) = answered(driven, first, "edit", arguments={"order": "B2"}).asks
    answered(driven, second, "approve")
    past = next(one.config for one in driven.checkpoints if second in str(one.values.get("stateward", {}).get("asks")))
    run_graph(driven.session.graph, None, how=driven.how, config=past)
    (again,) = driven.session.outcome().asks
    assert answered(driven, again, "approve").values["log"] == [{"refunded": "B2"}, {"refunded": "A2"}]
    assert shop.done("refund") == ["B2", "A2", "A2"]
