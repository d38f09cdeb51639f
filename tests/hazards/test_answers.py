"""Hazards 4, 5 and 20: effects around an answer, answers that reach the wrong call, asks that no longer fit."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.errors import Drift
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled
from tests.charts.tools import Shop, call

Drive = Callable[..., Driven]


async def effects_before(state: Any, run: sw.Run[Any]) -> Any:
    await run.tool("mail", to="before")
    await run.tools([call("lookup", order="1"), call("mail", to="beside"), call("refund", order="A")])
    await run.tool("mail", to="after")


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_code_before_an_ask_has_its_effects_once(drive: Drive, decision: str) -> None:
    """The activity is entered again, its effects are not."""
    shop = Shop()
    driven = drive(compiled(effects_before, box=shop.box, policy=policy("approve_refunds")))
    driven.answer(driven.start({}).asks[0], decision)
    assert shop.done("mail") == ["before", "beside", "after"]
    assert shop.done("lookup") == ["1"]
    assert shop.done("refund") == (["A"] if decision == "approve" else [])


async def three_refunds(state: Any, run: sw.Run[Any]) -> Any:
    results = await run.tools([call("refund", order=order) for order in "ABC"])
    return {"log": [result.status for result in results]}


@pytest.mark.parametrize("seed", range(6))
def test_answers_reach_their_own_call(drive: Drive, seed: int) -> None:
    """In whatever order people answer, each answer belongs to the call it names."""
    shop, order = Shop(), random.Random(seed)
    driven = drive(compiled(three_refunds, box=shop.box, policy=policy("approve_refunds")))
    asks = driven.start({}).asks
    wanted = {ask: order.choice(["approve", "reject"]) for ask in asks}
    for ask in order.sample(asks, 3):
        arguments = driven.session.database.asks.get(ask).arguments
        assert arguments["order"] == "ABC"[asks.index(ask)]
        outcome = driven.answer(ask, wanted[ask])
    assert outcome.values["log"] == ["ok" if wanted[ask] == "approve" else "rejected" for ask in asks]
    approved = [letter for letter, ask in zip("ABC", asks, strict=True) if wanted[ask] == "approve"]
    assert sorted(shop.done("refund")) == approved


def test_ask_under_another_policy_is_an_error_with_a_way_out(drive: Drive) -> None:
    """An answer that comes after the policy changed runs nothing; under the old policy it still does."""
    shop = Shop()
    old = compiled(three_refunds, box=shop.box, policy=policy("approve_refunds"))
    new = compiled(three_refunds, box=shop.box, policy=policy("ann_approves_refunds"))
    asks = drive(old).start({}).asks
    for ask in asks:
        drive(new).session.claim(ask, "approve", by="ann")
    with pytest.raises(Drift, match="policy"):
        drive(new).resume()
    assert shop.effects == []
    assert drive(old).resume().values["log"] == ["ok"] * 3
