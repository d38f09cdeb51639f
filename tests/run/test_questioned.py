"""Answering a session, from sync code and from a loop that others need meanwhile."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.errors import InputRefused, NotExpected, UnknownAsk
from stateward.run.store.database import Database
from stateward.testing import How
from tests.charts.beside import Gate
from tests.charts.refunds import asking, two_refunds
from tests.charts.tools import Shop


@pytest.fixture
def call(how: How) -> Callable[..., Any]:
    """Call a method of a session the test's way."""

    def make(session: sw.Session, name: str, *args: Any, **kwargs: Any) -> Any:
        if how == "sync":
            return getattr(session, name)(*args, **kwargs)
        return asyncio.run(getattr(session, f"a{name}")(*args, **kwargs))

    return make


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def session(database: Database, shop: Shop) -> sw.Session:
    """One that waits for two answers."""
    session = sw.Session("s1", asking(shop, two_refunds), database)
    session.start({"text": "x"})
    return session


def test_an_answer_goes_on_when_it_is_the_last(session: sw.Session, shop: Shop, call: Any) -> None:
    """Before that it tells which are open."""
    first, second = call(session, "outcome").asks
    assert (call(session, "answer", first, "approve", by="ann").asks, shop.done("refund")) == ((first, second), [])
    assert call(session, "answer", second, "reject", by="ann").status == "completed"
    assert (shop.done("refund"), call(session, "row").status) == (["A1"], "completed")


def test_an_answer_can_be_expected_and_recorded_alone(session: sw.Session, call: Any) -> None:
    """Nothing goes on by it; what would lead nowhere says so."""
    first, _ = session.outcome().asks
    call(session, "expect", first)
    assert call(session, "claim", first, "approve", by="ann", note="ok").note == "ok"
    with pytest.raises(UnknownAsk):
        call(session, "expect", "ask_0")
    other = sw.Session("s2", session.graph, session.database)
    with pytest.raises(NotExpected):
        call(other, "claim", first, "approve", by="ann")


@pytest.mark.parametrize("said", [{"by": "a\ud800"}, {"by": "ann", "note": "\udfff"}, {"by": 3}])
def test_an_answer_that_cannot_be_kept_is_refused(session: sw.Session, call: Any, said: Any) -> None:
    """By either way; the ask stays open."""
    first, _ = session.outcome().asks
    for way in ("claim", "answer"):
        with pytest.raises(InputRefused):
            call(session, way, first, "approve", **said)
    assert session.database.asks.get(first).status == "open"


def test_an_answer_leaves_the_loop_to_others(database: Database) -> None:
    """What it goes on with may even wait for them."""
    gate = Gate()

    async def pay(state: Any, run: sw.Run[Any]) -> Any:
        await run.tool("refund", order="A1")
        await gate.wait()

    async def main() -> str:
        session = sw.Session("s1", asking(Shop(), pay), database)
        (ask,) = (await session.astart({"text": "x"})).asks
        answering = asyncio.create_task(session.aanswer(ask, "approve", by="ann"))
        while not gate.reached.is_set():
            await asyncio.sleep(0)
        gate.open()
        return (await answering).status

    assert asyncio.run(main()) == "completed"


def test_each_method_has_its_async_twin() -> None:
    """With the same parameters; `refuse_…` only look at what a call then checks itself."""
    methods = dict(inspect.getmembers(sw.Session, inspect.isfunction))
    names = [name for name in methods if not name.startswith(("_", "refuse_")) and name[1:] not in methods]
    assert len(names) > 9
    for name in names:
        assert inspect.signature(methods[name]).parameters == inspect.signature(methods[f"a{name}"]).parameters


def test_several_asks_are_answered_by_one_map(session: sw.Session, shop: Shop, call: Any) -> None:
    """Yes and no are values too; nothing is recorded when one of them is none."""
    first, second = call(session, "outcome").asks
    with pytest.raises(InputRefused, match="Say True or False"):
        call(session, "answer_all", {first: True, second: "perhaps"}, by="ann")
    assert [ask.status for ask in session.database.asks.of("s1")] == ["open", "open"]
    assert call(session, "answer_all", {first: True, second: False}, by="ann").status == "completed"
    assert shop.done("refund") == ["A1"]
