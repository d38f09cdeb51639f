"""A restricted call waits for as many different people as the policy wants, and not for those who may not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from stateward.errors import AskClosed, GovernanceError
from stateward.govern.policy import Policy, Rule, ToolPolicy
from stateward.replay import replay
from stateward.run.store.database import Database
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


@pytest.fixture(params=["memory", "postgresql"])
def backend(request: pytest.FixtureRequest) -> str:
    """Both kinds of database."""
    return request.param


@pytest.fixture
def shop() -> Shop:
    return Shop()


async def pay(state: Any, run: sw.Run[Any]) -> Any:
    """One call that people are asked about."""
    return {"log": [(await run.tool("refund", order="A1")).status]}


def pay_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": [run.tool("refund", order="A1").status]}


@pytest.fixture
def do(how: str) -> Any:
    """The activity, in the form of the way it is driven."""
    return pay if how == "async" else pay_sync


def governed(shop: Shop, do: Any, **refund: Any) -> Any:
    """A chart whose refunds are asked about."""
    rules = (Rule(match="refund", level="restricted", **refund), Rule(match=".*", level="allowed"))
    return compiled(do, box=shop.box, policy=Policy(name="p", tools=ToolPolicy(rules=rules)))


def answered(driven: Driven, ask: str, decision: Any = "approve", *, by: str, **said: Any) -> Any:
    """Answer in the way it is driven."""
    if driven.how == "sync":
        return driven.session.answer(ask, decision, by=by, **said)
    return asyncio.run(driven.session.aanswer(ask, decision, by=by, **said))


def test_two_people_approve_before_a_call_is_made(drive: Drive, shop: Shop, do: Any) -> None:
    """After the first the session waits on, and says how far it is."""
    driven = drive(governed(shop, do, approvals=2))
    (ask,) = driven.start({"text": "x"}).asks
    first = answered(driven, ask, by="ann")
    assert (first.status, first.asks, shop.done("refund")) == ("waiting", (ask,), [])
    assert driven.session.database.asks.get(ask).progress == "1 of 2"
    assert answered(driven, ask, by="bob").values["log"] == ["ok"]
    assert shop.done("refund") == ["A1"]


def test_a_second_approval_of_the_same_person_is_none(drive: Drive, shop: Shop, do: Any) -> None:
    """Under whatever form of the name."""
    driven = drive(governed(shop, do, approvals=2))
    (ask,) = driven.start({"text": "x"}).asks
    answered(driven, ask, by="ann")
    for name in ("ann", "ANN", "ａｎｎ"):
        with pytest.raises(GovernanceError, match="already"):
            answered(driven, ask, by=name)
    assert (driven.session.outcome().asks, shop.done("refund")) == ((ask,), [])


def test_approvals_through_langgraph_count_one_by_one(drive: Drive, shop: Shop, do: Any) -> None:
    """`Command(resume=…)` is as good as `answer`, and the run plays again."""
    driven = drive(governed(shop, do, approvals=3))
    (ask,) = driven.start({"text": "x"}).asks
    for name in ("ann", "bob"):
        driven.send(Command(resume={"answers": {ask: {"decision": "approve", "by": name}}}))
        assert driven.session.outcome().asks == (ask,)
    driven.send(Command(resume={"answers": {ask: {"decision": "approve", "by": "cyd"}}}))
    assert driven.session.outcome().values["log"] == ["ok"]
    (played,) = replay(driven.session)
    assert played.divergence is None


def test_a_rejection_by_one_is_enough(drive: Drive, shop: Shop, do: Any) -> None:
    """Although another has approved."""
    driven = drive(governed(shop, do, approvals=2))
    (ask,) = driven.start({"text": "x"}).asks
    answered(driven, ask, by="ann")
    assert answered(driven, ask, "reject", by="bob").values["log"] == ["rejected"]
    with pytest.raises(AskClosed):
        answered(driven, ask, by="cyd")
    assert shop.done("refund") == []


def with_user(driven: Driven, user: str) -> Driven:
    """The same session, whose inputs somebody gives."""
    session = sw.Session(driven.session.id, driven.session.graph, driven.session.database, user=user)
    return Driven(session, driven.how)


def test_who_gave_the_input_does_not_approve_under_four_eyes(drive: Drive, shop: Shop, do: Any) -> None:
    """Somebody else does; to reject it is everybody's right."""
    driven = with_user(drive(governed(shop, do, four_eyes=True)), "Ann")
    (ask,) = driven.start({"text": "x"}).asks
    with pytest.raises(GovernanceError, match="four eyes"):
        answered(driven, ask, by="ann")
    assert answered(driven, ask, by="bob").values["log"] == ["ok"]


def test_who_edited_does_not_approve_under_four_eyes(drive: Drive, shop: Shop, do: Any) -> None:
    """Nor does the edit approve itself."""
    driven = with_user(drive(governed(shop, do, four_eyes=True)), "ann")
    (ask,) = driven.start({"text": "x"}).asks
    (second,) = answered(driven, ask, "edit", by="bob", arguments={"order": "B2"}).asks
    for name in ("ann", "bob"):
        with pytest.raises(GovernanceError, match="four eyes"):
            answered(driven, second, by=name)
    assert answered(driven, second, by="cyd").values["log"] == ["ok"]
    assert shop.done("refund") == ["B2"]


def test_four_eyes_need_to_know_who_gave_the_input(drive: Drive, shop: Shop, do: Any) -> None:
    """Else nobody could be told apart, and the call is refused."""
    driven = drive(governed(shop, do, four_eyes=True))
    assert driven.start({"text": "x"}).values["log"] == ["denied"]
    told = [row.record.get("reason", "") for row in driven.session.database.audit.rows("s1")]
    assert any("nobody said who gave the input" in each for each in told)


@pytest.mark.parametrize("user", ["", "ann"])
def test_where_four_eyes_leave_nobody_the_call_is_denied_at_once(drive: Drive, shop: Shop, do: Any, user: str) -> None:
    """It would wait for an answer that nobody may give."""
    driven = with_user(drive(governed(shop, do, four_eyes=True, approvers=("Ann",))), user)
    assert driven.start({"text": "x"}).values["log"] == ["denied"]
    assert driven.session.database.asks.of("s1") == ()


@pytest.mark.parametrize("user", ["", "ann"])
def test_a_run_in_which_nobody_was_left_to_approve_is_played_again(
    drive: Drive, shop: Shop, do: Any, user: str
) -> None:
    """The record says who gave the input, or that nobody did."""
    driven = with_user(drive(governed(shop, do, four_eyes=True, approvers=("Ann",))), user)
    driven.start({"text": "x"})
    (played,) = replay(driven.session)
    assert (played.divergence, shop.done("refund")) == (None, [])


def test_an_approval_is_of_one_session_only(drive: Drive, shop: Shop, do: Any, database: Database) -> None:
    """The same call of another session is another ask."""
    graph = governed(shop, do)
    one, other = drive(graph), drive(graph, session="s2")
    (first,), (second,) = one.start({"text": "x"}).asks, other.start({"text": "x"}).asks
    assert first != second
    answered(one, first, by="ann")
    assert database.asks.get(second).status == "open"
    assert shop.done("refund") == ["A1"]
