"""Hazard 5, whole: no wrong answer has an effect, and the right one has it exactly once, on every database."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from stateward.errors import AskClosed, InputRefused, NotExpected, StatewardError, UnknownSession
from stateward.run.store.database import Database
from stateward.testing import How, ManualClock
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled
from tests.charts.refunds import asking, two_refunds
from tests.charts.tools import Shop

Drive = Callable[..., Driven]
HANDS = 8


@pytest.fixture(params=["memory", "postgresql"])
def backend(request: pytest.FixtureRequest) -> str:
    """Both kinds of database."""
    return request.param


@pytest.fixture
def shop() -> Shop:
    return Shop()


def approving(ask: str) -> Command[Any]:
    """An approval as LangGraph takes it."""
    return Command(resume={"answers": {ask: {"decision": "approve", "by": "eve"}}})


def test_an_answer_that_is_given_many_times_at_once_counts_once(drive: Drive, shop: Shop) -> None:
    """One of them is taken; those after the end are refused as well."""
    driven = drive(asking(shop))
    (ask,) = driven.start({"text": "x"}).asks

    def answered(_: int) -> bool:
        try:
            driven.session.claim(ask, "approve", by="ann")
        except AskClosed:
            return False
        return True

    with ThreadPoolExecutor(HANDS) as pool:
        assert sum(pool.map(answered, range(HANDS))) == 1
    assert driven.resume().status == "completed"
    assert not answered(0)
    assert shop.done("refund") == ["A1"]


def test_an_answer_that_comes_late_is_for_nobody(drive: Drive, shop: Shop) -> None:
    """Its state was left and entered again: only the answer to the new question counts."""
    driven = drive(asking(shop, handles=["stop"]))
    (old,) = driven.start({"text": "x"}).asks
    driven.resume("stop")
    (new,) = driven.resume("again").asks
    with pytest.raises(AskClosed, match="withdrawn"):
        driven.answer(old)
    with pytest.raises(NotExpected):
        driven.send(approving(old))
    assert (driven.resume().asks, shop.done("refund")) == ((new,), [])
    driven.answer(new)
    assert shop.done("refund") == ["A1"]


@pytest.mark.parametrize("approved", [0, 1])
def test_answers_in_another_order_reach_their_own_calls(drive: Drive, shop: Shop, approved: int) -> None:
    """The second question is answered first; one is approved, the other is not."""
    driven = drive(asking(shop, two_refunds))
    asks = driven.start({"text": "x"}).asks
    for number in (1, 0):
        driven.answer(asks[number], "approve" if number == approved else "reject")
    assert shop.done("refund") == [("A1", "A2")[approved]]


def test_an_answer_to_another_question_answers_only_that(drive: Drive, shop: Shop) -> None:
    """Two sessions ask the same; through one of them nobody answers the other."""
    graph = asking(shop)
    mine, other = drive(graph, session="mine"), drive(graph, session="other")
    ((ask,), (its,)) = mine.start({"text": "x"}).asks, other.start({"text": "x"}).asks
    with pytest.raises(NotExpected):
        other.answer(ask)
    with pytest.raises(NotExpected):
        other.send(approving(ask))
    assert (mine.resume().asks, other.resume().asks, shop.done("refund")) == ((ask,), (its,), [])
    mine.answer(ask)
    assert (other.resume().status, shop.done("refund")) == ("waiting", ["A1"])


def test_an_answer_to_other_arguments_does_not_count(drive: Drive, shop: Shop) -> None:
    """Entered again, the activity wants to pay more than was approved: it is asked anew, and only that is paid."""
    amounts: list[float] = [3, 300, 300]
    seen: list[float] = []

    async def pay(state: Any, run: sw.Run[Any]) -> Any:
        seen.append(amounts[len(seen)])
        return {"log": [(await run.tool("refund", order="A", eur=seen[-1])).status]}

    driven = drive(asking(shop, pay))
    (small,) = driven.start({"text": "x"}).asks
    (large,) = driven.answer(small).asks
    assert (small == large, driven.resume().asks, shop.done("refund")) == (False, (large,), [])
    assert driven.session.database.asks.get(large).arguments["eur"] == 300
    assert driven.answer(large).values["log"] == ["ok"]
    assert shop.done("refund") == ["A"]


@pytest.fixture
def paid() -> list[float]:
    """What was paid back."""
    return []


@pytest.fixture
def three(drive: Drive, paid: list[float]) -> Driven:
    """A session that asks whether to pay three euros back."""

    @sw.tool(effect="once")
    def refund(order: str, eur: float) -> str:
        """Pay an order back."""
        paid.append(eur)
        return "paid"

    async def pay(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("refund", order="A", eur=3)).status]}

    driven = drive(compiled(pay, box=[refund], policy=policy("approve_refunds")))
    driven.start({"text": "x"})
    return driven


@pytest.mark.parametrize(
    "more",
    [
        {"arguments": {"order": "A", "eur": 300}},
        {"arguments": {"eur": 3}},
        {"arguments": None, "args": {"order": "A", "eur": 300}},
        {"edited_action": {"name": "refund", "args": {"order": "A", "eur": 300}}},
        {"tool": "other"},
        {"decision": "edit", "args": {"order": "A", "eur": 300}},
        {"decision": "edit", "arguments": {"order": "A", "eur": "much"}},
        {"expires_at": 0},
        {"decisions": ["reject"]},
    ],
)
def test_an_answer_to_another_call_than_was_shown_is_refused(three: Driven, paid: list[float], more: Any) -> None:
    """The call that was shown does not run, and its question stays open."""
    (ask,) = three.resume().asks
    with pytest.raises(InputRefused, match=ask):
        three.send(Command(resume={"answers": {ask: {"decision": "approve", "by": "ann", **more}}}))
    assert (three.resume().asks, paid) == ((ask,), [])


@pytest.mark.parametrize(
    "decision",
    [
        {"type": "approve", "edited_action": {"name": "refund", "args": {"order": "A", "eur": 300}}},
        {"type": "edit", "args": {"order": "A", "eur": 300}},
        {"type": "edit", "edited_action": {"name": "mail", "args": {"to": "eve"}}},
        {"type": "approve", "args": {"eur": 300}},
    ],
)
def test_what_is_no_edit_in_the_form_of_langchain_is_refused(three: Driven, paid: list[float], decision: Any) -> None:
    """It is no approval of the call that was shown either."""
    (ask,) = three.resume().asks
    with pytest.raises(InputRefused, match=ask):
        three.send(Command(resume={"decisions": [decision], "by": "ann"}))
    assert (three.resume().asks, paid) == ((ask,), [])


def test_an_answer_may_say_which_call_it_means(three: Driven, paid: list[float]) -> None:
    """Then they are those that were shown, whatever the form of the numbers."""
    (ask,) = three.resume().asks
    said = {"decision": "approve", "by": "ann", "tool": "refund", "arguments": {"eur": 3.0, "order": "A"}}
    three.send(Command(resume={"answers": {ask: said}}))
    assert paid == [3]


@pytest.mark.parametrize("way", ["claim", "answer", "command"])
def test_an_answer_of_another_tenant_does_not_count(how: How, shop: Shop, database: Database, way: str) -> None:
    """By whichever way it comes; nothing of it is kept for the owner to go on with."""
    graph = asking(shop).attach(database)
    mine, eve = (Driven(sw.Session("s1", graph, database, tenant=tenant), how) for tenant in ("acme", "acme-corp"))
    (ask,) = mine.start({"text": "x"}).asks
    ways: dict[str, Callable[[], object]] = {
        "claim": lambda: eve.session.claim(ask, "approve", by="eve"),
        "answer": lambda: eve.session.answer(ask, "approve", by="eve"),
        "command": lambda: eve.send(approving(ask)),
    }
    with pytest.raises(UnknownSession):
        ways[way]()
    assert (mine.resume().status, shop.done("refund")) == ("waiting", [])
    mine.answer(ask)
    assert shop.done("refund") == ["A1"]


def test_an_answer_after_its_time_does_not_count(drive: Drive, shop: Shop, clock: ManualClock) -> None:
    """The call is refused instead; a new run asks anew."""
    driven = drive(compiled(two_refunds, box=shop.box, policy=policy("approve_refunds_within")))
    first, second = driven.start({"text": "x"}).asks
    driven.answer(second)
    clock.advance(60)
    for attempt in (lambda: driven.answer(first), lambda: driven.send(approving(first))):
        with pytest.raises(StatewardError):
            attempt()
    assert driven.resume().status == "completed"
    assert shop.done("refund") == ["A2"]
    again, _ = driven.start({"text": "y"}).asks
    driven.session.claim(again, "approve", by="ann")
    clock.advance(60)
    driven.resume()
    assert shop.done("refund") == ["A2", "A1"]
