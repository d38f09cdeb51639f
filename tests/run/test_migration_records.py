"""Calls, questions and fuses of a migrated session: no effect twice, no answer lost, no money given back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from stateward.errors import AskClosed, Drift, GovernanceError
from stateward.migration import Migration
from stateward.run.store.database import Database
from tests.charts.drive import Driven
from tests.charts.migrated import RENAMED, Crash, Drive, desk, dump, migrate, notes, renamed
from tests.charts.one import One
from tests.charts.refunds import two_refunds
from tests.charts.tools import Shop


def asked(drive: Drive, shop: Shop, **rest: Any) -> str:
    """A session that waits for a person under the old definition; its question."""
    return drive(desk(shop, **rest)).start({"log": []}).asks[0]


def test_an_open_question_is_put_under_its_new_name(drive: Drive) -> None:
    """Answered afterwards, the effect happens exactly once, and what was called before is known."""
    shop = Shop()
    old = asked(drive, shop)
    driven = drive(renamed(shop))
    (told,) = notes(migrate(driven, RENAMED), "ask")
    (new,) = driven.session.outcome().asks
    assert (told, [ask.id for ask in driven.session.database.asks.open()]) == ((old, new), [new])
    assert (driven.answer(new).status, shop.effects) == ("completed", [("lookup", "A1"), ("refund", "A1")])


def test_an_answer_may_name_the_question_as_it_was_called(drive: Drive) -> None:
    """Who saw it before the migration answers what stands for it now."""
    shop = Shop()
    old = asked(drive, shop)
    driven = drive(renamed(shop))
    migrate(driven, RENAMED)
    driven.send(Command(resume={"answers": {old: {"decision": "approve", "by": "ann"}}}))
    assert (driven.session.outcome().status, shop.done("refund")) == ("completed", ["A1"])


def test_the_old_question_is_closed(drive: Drive) -> None:
    """It cannot be answered beside the one that stands for it."""
    shop = Shop()
    old = asked(drive, shop)
    migrate(drive(renamed(shop)), RENAMED)
    with pytest.raises(AskClosed, match="withdrawn"):
        drive(renamed(shop)).session.database.asks.answer(old, decision="approve", by="ann")


def test_an_answer_that_was_given_stays_given(drive: Drive) -> None:
    """The person is not asked again."""
    shop = Shop()
    old = drive(desk(shop))
    old.session.claim(old.start({"log": []}).asks[0], "approve", by="ann")
    driven = drive(renamed(shop))
    migrate(driven, RENAMED)
    assert (driven.resume().status, shop.done("refund")) == ("completed", ["A1"])


def test_of_several_questions_each_is_carried(drive: Drive) -> None:
    """One is answered before, one after."""
    shop = Shop()
    old = drive(desk(shop, do=two_refunds))
    old.session.claim(old.start({"log": []}).asks[0], "reject", by="ann")
    driven = drive(renamed(shop, do=two_refunds))
    migrate(driven, RENAMED)
    (left,) = driven.session.database.asks.open()
    assert (driven.answer(left.id).values["log"], shop.done("refund")) == (["rejected", "ok", "ok"], ["A2"])


def test_a_question_about_a_tool_that_is_gone_is_refused(drive: Drive) -> None:
    """Its answer would lead nowhere; the message says how to take it back."""
    shop = Shop()
    asked(drive, shop)
    before = dump(drive(desk(shop)).session.database)["stateward_asks"]
    driven = drive(renamed(shop, tools=["lookup"]))
    with pytest.raises(Drift, match=r'withdraw=\{"refund"\}'):
        migrate(driven, RENAMED)
    assert dump(driven.session.database)["stateward_asks"] == before


def test_a_question_that_is_withdrawn_lets_the_activity_ask_anew(drive: Drive) -> None:
    """It is entered again; its earlier calls are known."""
    shop = Shop()
    asked(drive, shop)

    async def only_look(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("lookup", order="A1")).status]}

    driven = drive(renamed(shop, do=only_look, tools=["lookup"]))
    migrate(driven, replace(RENAMED, withdraw=frozenset({"refund"})))
    assert driven.session.database.asks.open() == ()
    assert (driven.resume().values["log"], shop.effects) == (["ok"], [("lookup", "A1")])


def test_a_call_that_nobody_knows_the_end_of_is_refused(drive: Drive) -> None:
    """Under another name it would be made under another key, and so perhaps twice."""

    @sw.tool(effect="idempotent")
    async def pay() -> None:
        """Die while paying."""
        raise Crash

    async def act(state: Any, run: sw.Run[Any]) -> None:
        await run.tool("pay")

    def chart(name: str) -> Any:
        state = sw.State(name, do=act, tools=["pay"], to="DONE")
        return sw.Chart("desk", One, state, sw.Final("DONE")).compile(tools=[pay])

    with pytest.raises(Crash):
        drive(chart("PAY")).start({})
    with pytest.raises(Drift, match="nobody knows whether it was done"):
        migrate(drive(chart("SPEND")), Migration(states={"PAY": "SPEND"}))


def test_what_was_spent_of_a_fuse_counts_on_under_its_new_name(drive: Drive) -> None:
    """The state's three calls are not given back."""
    shop = Shop()
    asked(drive, shop, rules="approve_refunds")
    driven = drive(renamed(shop))
    ledger = driven.session.database.ledger
    run = driven.session.database.sessions.get("s1").run
    before = {unit: spent for (scope, unit), spent in ledger.spent("s1", run).items() if scope == "WORK"}
    migrate(driven, RENAMED)
    after = {unit: spent for (scope, unit), spent in ledger.spent("s1", run).items() if scope == "JOB"}
    assert before == after != {}


def test_a_limit_that_a_person_raised_stays_raised(drive: Drive) -> None:
    """It is known by the name of its state as well."""
    shop = Shop()
    asked(drive, shop)
    driven = drive(renamed(shop))
    ledger, run = driven.session.database.ledger, driven.session.database.sessions.get("s1").run
    ledger.raise_limit("s1", run, "WORK", "turns", 9, "ann", "more work")
    migrate(driven, RENAMED)
    assert ledger.limit_for("s1", run, "JOB", "turns") == 9


def test_there_and_back_again_spends_nothing_twice(drive: Drive) -> None:
    """Two migrations later the count is what it was, and the effect is still to come, once."""
    shop = Shop()
    asked(drive, shop)
    driven = drive(renamed(shop))
    ledger, run = driven.session.database.ledger, driven.session.database.sessions.get("s1").run
    before = dict(ledger.spent("s1", run))
    migrate(driven, RENAMED)
    back = drive(desk(shop))
    migrate(back, Migration(states={"JOB": "WORK", "JOB.DO": "WORK.ACT"}))
    assert {key: ledger.spent("s1", run)[key] for key in before} == before
    assert (back.answer(back.session.outcome().asks[0]).status, shop.done("refund")) == ("completed", ["A1"])


def test_what_is_encrypted_is_sealed_for_its_new_place(url: str, how: Any) -> None:
    """A result, its arguments and a question are read under their new names."""
    shop = Shop()
    with sw.open(url, keys={"k1": b"1" * 16}) as database:
        drive = driving(database, how)
        asked(drive, shop)
        driven = drive(renamed(shop))
        migrate(driven, RENAMED)
        outcome = driven.answer(driven.session.outcome().asks[0])
    assert (outcome.values["log"][0], shop.effects) == ("ok", [("lookup", "A1"), ("refund", "A1")])


def driving(database: Database, how: Any) -> Drive:
    def make(graph: Any) -> Driven:
        return Driven(sw.Session("s1", graph.attach(database), database), how)

    return make


def test_a_question_is_for_those_whom_the_new_policy_names(drive: Drive) -> None:
    """Anyone could have answered it; now it is Ann."""
    shop = Shop()
    asked(drive, shop)
    driven = drive(desk(shop, rules="ann_approves_refunds"))
    migrate(driven)
    (ask,) = driven.session.outcome().asks
    with pytest.raises(GovernanceError, match="`bob` may not answer"):
        driven.session.claim(ask, "approve", by="bob")
    assert (driven.answer(ask).status, shop.done("refund")) == ("completed", ["A1"])


def test_an_approval_by_one_who_may_not_give_it_any_more_is_asked_for_again(drive: Drive) -> None:
    """What Ann said stands; what Bob said does not."""
    shop = Shop()
    old = drive(desk(shop))
    old.session.claim(old.start({"log": []}).asks[0], "approve", by="bob")
    driven = drive(desk(shop, rules="ann_approves_refunds"))
    migrate(driven)
    (ask,) = driven.session.database.asks.open()
    assert (ask.approvers, driven.resume().status, shop.done("refund")) == (("ann",), "waiting", [])


def test_a_question_about_an_unknown_effect_is_carried(drive: Drive) -> None:
    """It is about the same try, so the answer is taken for it: approved, the call is made once more, and no oftener."""
    tries: list[str] = []

    @sw.tool(effect="once")
    async def mail() -> str:
        """Die at the first try."""
        tries.append("mail")
        if len(tries) == 1:
            raise Crash
        return "sent"

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("mail")).value]}

    def chart(name: str) -> Any:
        state = sw.State(name, do=act, tools=["mail"], to="DONE")
        return sw.Chart("desk", One, state, sw.Final("DONE")).compile(tools=[mail])

    with pytest.raises(Crash):
        drive(chart("WRITE")).start({})
    drive(chart("WRITE")).resume()
    driven = drive(chart("POST"))
    migrate(driven, Migration(states={"WRITE": "POST"}))
    (ask,) = driven.session.database.asks.open()
    assert (ask.kind, driven.answer(ask.id).values["log"], len(tries)) == ("unknown", ["sent"], 2)


def test_a_revoked_state_is_revoked_under_its_new_name(drive: Drive) -> None:
    """A migration leads no call past an operator."""
    shop = Shop()
    old = drive(desk(shop))
    old.start({"log": []})
    old.session.database.revocations.add(next(iter(RENAMED.states)), kind="state", by="ann")
    driven = drive(renamed(shop))
    migrate(driven, RENAMED)
    (new,) = driven.session.outcome().asks
    assert driven.answer(new).values["log"][0] == "denied"
    assert shop.done("refund") == []
