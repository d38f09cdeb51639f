"""Asks: a person stands before the effect, and each answer reaches its own call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command

from stateward.errors import AskClosed, GovernanceError, NotExpected
from stateward.testing import How, run_graph
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled
from tests.charts.refunds import (
    asking,
    look_then_refund,
    look_then_refund_sync,
    two_refunds,
    two_refunds_sync,
)
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.mark.parametrize("do", [look_then_refund, look_then_refund_sync])
def test_restricted_call_waits_for_a_person_before_its_effect(drive: Drive, shop: Shop, do: Any) -> None:
    """A restricted call suspends the activity and the chart waits in the state's `ask`."""
    outcome = drive(asking(shop, do)).start({"text": "x"})
    assert (outcome.status, outcome.path) == ("waiting", "WORK.ACT.ask")
    assert shop.done("refund") == []


def test_rejected_call_becomes_an_observation(drive: Drive, shop: Shop) -> None:
    """A rejection goes back to the activity with the person's note, and nothing runs."""
    driven = drive(asking(shop))
    outcome = driven.answer(driven.start({"text": "x"}).asks[0], "reject", note="too much")
    assert outcome.values["log"][0] == "rejected"
    assert "too much" in outcome.values["log"][1]["error"]["reason"]
    assert shop.done("refund") == []


@pytest.mark.parametrize("do", [two_refunds, two_refunds_sync])
def test_asks_of_one_activity_are_put_together(drive: Drive, shop: Shop, do: Any) -> None:
    """A batch with two restricted calls asks twice at once, and its other call has run."""
    outcome = drive(asking(shop, do)).start({"text": "x"})
    assert len(outcome.asks) == 2
    assert shop.effects == [("lookup", "L")]


@pytest.mark.parametrize("do", [two_refunds, two_refunds_sync])
def test_asks_can_be_answered_one_after_the_other(drive: Drive, shop: Shop, do: Any) -> None:
    """The session waits until the last ask is answered; each answer reaches its own call."""
    driven = drive(asking(shop, do))
    first, second = driven.start({"text": "x"}).asks
    assert driven.answer(first, "reject").asks == (first, second)
    outcome = driven.answer(second, "approve")
    assert outcome.values["log"] == ["rejected", "ok", "ok"]
    assert shop.effects == [("lookup", "L"), ("refund", "A2")]


def test_bare_word_answers_the_only_ask(drive: Drive, shop: Shop, how: How) -> None:
    """`approve` is enough when one ask is open and the config names the approver."""
    driven = drive(asking(shop))
    driven.start({"text": "x"})
    graph, config = driven.session.graph, driven.session.config
    named = {"configurable": {**config["configurable"], "approver": "ann"}}
    values = run_graph(graph, Command(resume="approve"), how=how, config=named)
    assert values["log"][0] == "ok"


def test_answer_without_a_name_is_refused(drive: Drive, shop: Shop) -> None:
    """Nobody may approve namelessly; the ask stays open."""
    driven = drive(asking(shop))
    ask = driven.start({"text": "x"}).asks[0]
    with pytest.raises(GovernanceError, match="named person"):
        driven.send(Command(resume="approve"))
    assert driven.session.database.asks.get(ask).status == "open"


@pytest.mark.parametrize("form", ["map", "decisions"])
def test_asks_can_be_answered_in_one_payload(drive: Drive, shop: Shop, form: str) -> None:
    """A map by ask, and LangChain's list of decisions, answer all asks through `Command(resume=…)`."""
    driven = drive(asking(shop, two_refunds))
    first, second = driven.start({"text": "x"}).asks
    payload = {
        "map": {"answers": {second: {"decision": "approve", "by": "ann"}, first: {"decision": "reject", "by": "ann"}}},
        "decisions": {"decisions": [{"type": "reject"}, {"type": "approve"}], "by": "ann"},
    }
    driven.send(Command(resume=payload[form]))
    assert driven.session.outcome().values["log"] == ["rejected", "ok", "ok"]


def test_second_answer_is_refused(drive: Drive, shop: Shop) -> None:
    """An ask takes one answer."""
    driven = drive(asking(shop))
    ask = driven.start({"text": "x"}).asks[0]
    driven.answer(ask)
    with pytest.raises(AskClosed):
        driven.answer(ask, "reject")


def test_answer_of_another_session_is_refused(drive: Drive, shop: Shop) -> None:
    """An ask can only be answered through the session it belongs to."""
    graph = asking(shop)
    mine, other = drive(graph, session="mine"), drive(graph, session="other")
    ask = mine.start({"text": "x"}).asks[0]
    other.start({"text": "x"})
    with pytest.raises(NotExpected, match="belongs to session"):
        other.answer(ask)
    with pytest.raises(NotExpected):
        other.send(Command(resume={"answers": {ask: "approve"}}))
    assert mine.session.database.asks.get(ask).status == "open"


def test_only_a_named_approver_may_answer(drive: Drive, shop: Shop) -> None:
    """A rule that names its approvers refuses everyone else, and the ask stays open."""
    driven = drive(compiled(look_then_refund, box=shop.box, policy=policy("ann_approves_refunds")))
    ask = driven.start({"text": "x"}).asks[0]
    with pytest.raises(GovernanceError, match="may not answer"):
        driven.session.claim(ask, "approve", by="bob")
    assert driven.answer(ask).status == "completed"


def test_event_that_leaves_the_state_withdraws_its_asks(drive: Drive, shop: Shop) -> None:
    """Nobody can approve a call whose state was left."""
    driven = drive(asking(shop, handles=["stop"]))
    ask = driven.start({"text": "x"}).asks[0]
    outcome = driven.resume("stop")
    assert (outcome.path, outcome.asks) == ("HELP", ())
    with pytest.raises(AskClosed, match="withdrawn"):
        driven.session.claim(ask, "approve", by="ann")


def test_a_new_entry_asks_anew(drive: Drive, shop: Shop) -> None:
    """An approval belongs to one activation: coming back into the state asks again."""
    driven = drive(asking(shop, handles=["stop"]))
    first = driven.start({"text": "x"}).asks[0]
    driven.resume("stop")
    (second,) = driven.resume("again").asks
    assert second != first
    assert driven.answer(second).status == "completed"


def test_unexpected_event_leaves_the_ask_open(drive: Drive, shop: Shop) -> None:
    """An event nobody takes is refused before anything is committed."""
    driven = drive(asking(shop))
    ask = driven.start({"text": "x"}).asks[0]
    before = len(driven.checkpoints)
    with pytest.raises(NotExpected):
        driven.resume("nonsense")
    assert len(driven.checkpoints) == before
    assert driven.session.database.asks.get(ask).status == "open"


def test_nothing_is_reserved_while_a_person_thinks(drive: Drive, shop: Shop) -> None:
    """The open call is in no ledger; only the lookup is."""
    driven = drive(asking(shop))
    driven.start({"text": "x"})
    database, row = driven.session.database, driven.session.row()
    assert database.ledger.spent("s1", run=row.run)[("", "calls")] == 1


def test_interrupt_of_an_ask_names_arguments_and_events(drive: Drive, shop: Shop) -> None:
    """The wait carries the envelope of each ask and the events that would be taken instead."""
    driven = drive(asking(shop, handles=["stop"]))
    driven.start({"text": "x"})
    (interrupt,) = driven.session.graph.get_state(driven.session.config).interrupts
    (ask,) = interrupt.value["asks"]
    assert ask["action_request"] == {"action": "refund", "args": {"order": "A1", "eur": 3.0}}
    assert interrupt.value["events"] == [{"name": "stop"}]
