"""Questions that nobody answers in time: the call is refused, nothing runs, and the session goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from stateward.errors import AskClosed
from stateward.run.graph import ChartGraph
from stateward.run.store.database import Database
from stateward.run.travel import Timeline
from stateward.testing import How, ManualClock
from stateward.waking import Woken, awake, wake
from tests.charts.beside import Gate, compiled_beside, says
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled
from tests.charts.refunds import look_then_refund, look_then_refund_sync, two_refunds, two_refunds_sync
from tests.charts.replayed import same
from tests.charts.tools import Shop, call

Drive = Callable[..., Driven]
EXPIRES_S = 60


@pytest.fixture
def shop() -> Shop:
    return Shop()


def within(shop: Shop, do: Any = look_then_refund, **rest: Any) -> ChartGraph:
    return compiled(do, box=shop.box, policy=policy("approve_refunds_within"), **rest)


def woken(how: How, graph: ChartGraph, database: Database) -> list[Woken]:
    return wake(graph, database) if how == "sync" else asyncio.run(awake(graph, database))


async def refund_and_mail(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [one.status for one in await run.tools([call("refund", order="A"), call("mail", to="ann")])]}


@pytest.mark.parametrize("do", [look_then_refund, look_then_refund_sync])
def test_a_call_that_nobody_approves_in_time_is_refused(drive: Drive, shop: Shop, clock: ManualClock, do: Any) -> None:
    """The activity is entered again and sees a rejection; nothing was done."""
    driven = drive(within(shop, do))
    driven.start({"text": "x"})
    clock.advance(EXPIRES_S)
    outcome = driven.resume()
    assert (outcome.status, outcome.values["log"][0]) == ("completed", "rejected")
    assert outcome.values["log"][1]["error"]["reason"] == "expired: nobody answered within 60 s"
    assert shop.done("refund") == []


def test_until_then_it_waits(drive: Drive, shop: Shop, clock: ManualClock) -> None:
    """By the database's clock; what is asked tells until when."""
    driven = drive(within(shop))
    (ask,) = driven.start({"text": "x"}).asks
    assert driven.session.database.asks.get(ask).expires_at == clock.now() + EXPIRES_S
    clock.advance(EXPIRES_S - 1)
    assert driven.resume().status == "waiting"
    assert driven.answer(ask).values["log"][0] == "ok"


@pytest.mark.parametrize("gone_on", [False, True])
def test_a_late_answer_is_refused(drive: Drive, shop: Shop, clock: ManualClock, gone_on: bool) -> None:
    """Whether the session went on meanwhile or not, and whatever the clock says afterwards."""
    driven = drive(within(shop))
    (ask,) = driven.start({"text": "x"}).asks
    clock.advance(EXPIRES_S)
    if gone_on:
        driven.resume()
        clock.advance(-EXPIRES_S)
    with pytest.raises(AskClosed, match="expired"):
        driven.session.answer(ask, "approve", by="ann")
    if not gone_on:
        with pytest.raises(AskClosed, match="expired"):
            driven.send(Command(resume={"answers": {ask: {"decision": "approve", "by": "ann"}}}))
        driven.resume()
    assert (driven.session.outcome().status, shop.done("refund")) == ("completed", [])


def test_who_wakes_sessions_finds_it(how: How, drive: Drive, shop: Shop, clock: ManualClock) -> None:
    """At its moment and not before, once."""
    driven = drive(within(shop))
    driven.start({"text": "x"})
    graph, database = driven.session.graph, driven.session.database
    assert database.sessions.get("s1").wakes_at == clock.now() + EXPIRES_S
    clock.advance(EXPIRES_S - 1)
    assert woken(how, graph, database) == []
    clock.advance(1)
    (one,) = woken(how, graph, database)
    assert (one.outcome and one.outcome.status, one.error, shop.done("refund")) == ("completed", "", [])
    assert woken(how, graph, database) == []


@pytest.mark.parametrize("do", [two_refunds, two_refunds_sync])
def test_of_two_questions_one_may_expire(drive: Drive, shop: Shop, clock: ManualClock, do: Any) -> None:
    """The approved call runs, once, and the other one never."""
    driven = drive(within(shop, do))
    _, second = driven.start({"text": "x"}).asks
    assert driven.answer(second).status == "waiting"
    clock.advance(EXPIRES_S)
    assert driven.resume().values["log"] == ["rejected", "ok", "ok"]
    assert shop.done("refund") == ["A2"]


def test_an_expired_question_waits_for_those_beside_it(how: How, drive: Drive, shop: Shop, clock: ManualClock) -> None:
    """One without an end keeps the session waiting, and nobody wakes it in vain."""
    driven = drive(within(shop, refund_and_mail))
    _, mail = driven.start({"text": "x"}).asks
    clock.advance(EXPIRES_S)
    assert woken(how, driven.session.graph, driven.session.database) == []
    assert driven.session.database.sessions.get("s1").wakes_at is None
    assert driven.resume().status == "waiting"
    assert driven.answer(mail).values["log"] == ["rejected", "ok"]
    assert shop.effects == [("mail", "ann")]


def test_an_answer_to_the_question_beside_it_lets_it_be_woken(
    how: How, drive: Drive, shop: Shop, clock: ManualClock
) -> None:
    """When the other one is answered first, the moment is that of the first."""
    driven = drive(within(shop, refund_and_mail))
    _, mail = driven.start({"text": "x"}).asks
    driven.session.claim(mail, "approve", by="ann")
    clock.advance(EXPIRES_S)
    (one,) = woken(how, driven.session.graph, driven.session.database)
    assert one.outcome is not None
    assert one.outcome.values["log"] == ["rejected", "ok"]


def test_a_region_that_asks_goes_on_while_another_waits(how: How, drive: Drive, shop: Shop, clock: ManualClock) -> None:
    """Beside a region that waits for an event."""
    asks = sw.State("ACT", do=look_then_refund, tools=["lookup", "refund"], to="END")
    waits = sw.State("IDLE", on=[sw.on("go", "END")])
    graph = compiled_beside([asks], [waits], box=shop.box, policy=policy("approve_refunds_within"))
    driven = drive(graph)
    assert driven.start({}).status == "waiting"
    clock.advance(EXPIRES_S)
    (one,) = woken(how, driven.session.graph, driven.session.database)
    assert one.outcome is not None
    assert (one.outcome.status, one.outcome.values["log"][0], shop.done("refund")) == ("waiting", "rejected", [])
    assert driven.resume("go").status == "completed"


def test_a_region_goes_on_while_another_still_asks(how: How, drive: Drive, shop: Shop, clock: ManualClock) -> None:
    """Each region waits for its own questions."""

    async def mail(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("mail", to="ann")).status]}

    pays = sw.State("PAY", do=look_then_refund, tools=["lookup", "refund"], to="END")
    mails = sw.State("MAIL", do=mail, tools=["mail"], to="END")
    driven = drive(compiled_beside([pays], [mails], box=shop.box, policy=policy("approve_refunds_within")))
    driven.start({})
    clock.advance(EXPIRES_S)
    (one,) = woken(how, driven.session.graph, driven.session.database)
    assert one.outcome is not None
    assert (one.outcome.values["log"][0], shop.done("refund")) == ("rejected", [])
    (left,) = one.outcome.asks
    assert woken(how, driven.session.graph, driven.session.database) == []
    assert driven.answer(left).values["log"][-1] == "ok"
    assert shop.done("mail") == ["ann"]


def test_a_region_that_asks_goes_on_while_another_works(drive: Drive, shop: Shop, clock: ManualClock) -> None:
    """The call that runs the session notices by itself."""
    gate, asked = Gate(), Gate()

    async def then_opens(state: Any, run: sw.Run[Any]) -> Any:
        asked.open()
        done = await look_then_refund(state, run)
        gate.open()
        return done

    asks = sw.State("ACT", do=then_opens, tools=["lookup", "refund"], to="END")
    works = sw.State("WORK", do=says("worked", after=gate), to="END")
    driven = drive(compiled_beside([asks], [works], box=shop.box, policy=policy("approve_refunds_within")))
    with driven.running() as came:
        while not driven.session.database.asks.open():
            asked.reached.wait(0.01)
        clock.advance(EXPIRES_S)
    assert (came[0].status, came[0].values["log"][0], came[0].values["log"][-1]) == ("completed", "rejected", "worked")
    assert shop.done("refund") == []


def test_a_fork_puts_the_question_again(drive: Drive, shop: Shop, clock: ManualClock) -> None:
    """For as long as it was put first."""
    driven = drive(within(shop))
    driven.start({"text": "x"})
    clock.advance(EXPIRES_S)
    driven.resume()
    session = driven.session
    asked = next(row for row in Timeline(session.graph, session.database, "s1") if row.event == "ask")
    Timeline(session.graph, session.database, "s1").fork(asked.checkpoint)
    (again,) = session.database.asks.open("s1")
    assert again.expires_at == pytest.approx(clock.now() + EXPIRES_S)
    assert driven.answer(again.id).values["log"][0] == "ok"


def test_a_replay_lets_it_expire_again(drive: Drive, shop: Shop, clock: ManualClock) -> None:
    """Without a clock: it expires where it did."""
    driven = drive(within(shop))
    driven.start({"text": "x"})
    clock.advance(EXPIRES_S)
    driven.resume()
    assert same(driven)
    assert shop.done("refund") == []


def test_what_expired_is_audited(drive: Drive, shop: Shop, clock: ManualClock) -> None:
    """The question and what followed."""
    driven = drive(within(shop))
    (ask,) = driven.start({"text": "x"}).asks
    clock.advance(EXPIRES_S)
    driven.resume()
    rows = [row.record for row in driven.session.database.audit.rows("s1")]
    assert [row["ask"] for row in rows if row["event"] == "expired"] == [ask]
    assert [row["name"] for row in rows if row["event"] == "rejected"] == ["refund"]
