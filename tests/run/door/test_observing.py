"""Observe mode: a policy that only observes is in nobody's way, and says what it would have done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.govern.kinds.pace import Pace
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.tools import Shop

Drive = Callable[..., Driven]
CASES = {
    "would_deny": Policy(name="t", tools=ToolPolicy(default="forbidden"), observe=True),
    "would_ask": Policy(name="t", tools=ToolPolicy(rules=(Rule(match=".*", level="restricted"),)), observe=True),
    "would_wait": Policy(name="t", pace=Pace(calls_per_minute=1), observe=True),
}


@pytest.fixture
def shop() -> Shop:
    return Shop()


async def twice(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("lookup", order=order)).status for order in "ab"]}


def twice_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": [run.tool("lookup", order=order).status for order in "ab"]}


def would(driven: Driven) -> list[tuple[str, int]]:
    records = [row.record for row in driven.session.database.audit.rows("s1")]
    return [(record["event"], record["call"]) for record in records if record["event"].startswith("would_")]


@pytest.mark.parametrize("do", [twice, twice_sync])
@pytest.mark.parametrize("what", CASES)
def test_it_is_written_down_and_nothing_else_happens(drive: Drive, shop: Shop, what: str, do: Any) -> None:
    """Both calls are made at once; a pace of one a minute would have held up the second only."""
    driven = drive(compiled(do, box=shop.box, policy=CASES[what]))
    assert driven.start({}).values["log"] == ["ok", "ok"]
    assert would(driven) == [(what, call) for call in ((2,) if what == "would_wait" else (1, 2))]


def test_what_would_not_differ_is_not_written_down(drive: Drive, shop: Shop) -> None:
    """A policy that would let the calls pass says nothing."""
    driven = drive(compiled(twice, box=shop.box, policy=Policy(name="t", fuses=Fuses(calls=2), observe=True)))
    driven.start({})
    assert would(driven) == []


def test_a_fuse_that_observes_counts_and_does_not_trip(drive: Drive, shop: Shop) -> None:
    """It says from which call on it would have tripped."""
    driven = drive(compiled(twice, box=shop.box, policy=Policy(name="t", fuses=Fuses(calls=1), observe=True)))
    assert driven.start({}).status == "completed"
    assert would(driven) == [("would_deny", 2)]


async def asks(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.model().ainvoke("hello")).text]}


def test_model_calls_are_observed_too(drive: Drive) -> None:
    """A fuse of no turns would have stopped the first one."""
    policy = Policy(name="t", fuses=Fuses(turns=0), observe=True)
    driven = drive(compiled(asks, models={"m": ScriptedModel.of("a")}, model="m", policy=policy))
    assert driven.start({}).values["log"] == ["a"]
    assert would(driven) == [("would_deny", 1)]
