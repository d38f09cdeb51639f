"""A revocation at the door: it reaches a running session at its next call, whoever made it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from stateward.run.store.database import Database
from stateward.testing import run_graph
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.refunds import asking
from tests.charts.replayed import same
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


@pytest.fixture
def backend() -> str:
    """Two processes can open it."""
    return "sqlite"


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """Forks tell what came before by the time, so the clock is the machine's."""
    with sw.open(url) as opened:
        yield opened


def chart(url: str, do: Any, **taken: Any) -> Any:
    """A state whose first call lets somebody else, with a connection of their own, take something back."""

    @sw.tool(effect="pure")
    def look(order: str) -> str:
        with sw.open(url) as other:
            other.revocations.add(taken["name"], kind=taken["kind"], by="ann", reason="fraud")
        return order

    @sw.tool(effect="idempotent")
    def pay(order: str) -> str:
        return order

    return compiled(do, box=[look, pay], tools=["look", "pay"])


async def look_then_pay(state: Any, run: sw.Run[Any]) -> Any:
    await run.tool("pay", order="A0")
    await run.tool("look", order="A1")
    paid = await run.tool("pay", order="A1")
    return {"log": [paid.status, paid.value]}


def look_then_pay_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    run.tool("pay", order="A0")
    run.tool("look", order="A1")
    paid = run.tool("pay", order="A1")
    return {"log": [paid.status, paid.value]}


@pytest.mark.parametrize("do", [look_then_pay, look_then_pay_sync])
@pytest.mark.parametrize(("kind", "name"), [("tool", "pay"), ("state", "WORK"), ("state", "WORK.ACT")])
def test_the_next_call_of_a_running_activity_is_denied(drive: Drive, url: str, do: Any, kind: str, name: str) -> None:
    """The call before was made; this one is an observation with who took it back and why."""
    outcome = drive(chart(url, do, kind=kind, name=name)).start({})
    assert outcome.values["log"][0] == "denied"
    assert f"{kind} `{name}` was revoked by ann: fraud" in outcome.values["log"][1]["error"]["reason"]


def test_the_run_plays_again_as_it_was(drive: Drive, url: str) -> None:
    """The same tool passes before the revocation and is denied after it."""
    driven = drive(chart(url, look_then_pay, kind="tool", name="pay"))
    driven.start({})
    assert same(driven)


def test_an_approved_call_is_denied_all_the_same(drive: Drive) -> None:
    """What a person approved before may have been taken back since."""
    shop = Shop()
    driven = drive(asking(shop))
    asked = driven.start({"text": "x"})
    driven.session.database.revocations.add("refund", kind="tool", by="ann", session="s1")
    assert driven.answer(asked.asks[0]).values["log"][0] == "denied"
    assert shop.effects == [("lookup", "A1")]


def test_a_fork_keeps_it(drive: Drive) -> None:
    """Time travel does not lead behind a revocation: on the new branch the refund is denied."""
    shop = Shop()
    driven = drive(asking(shop))
    ask = driven.start({"text": "x"}).asks[0]
    past = driven.checkpoints[-1].config
    driven.answer(ask)
    driven.session.database.revocations.add("refund", kind="tool", by="ann", session="s1")
    again = Command(resume={"answers": {ask: {"decision": "approve", "by": "ann"}}})
    values = run_graph(driven.session.graph, again, how=driven.how, config=past)
    assert (values["log"][0], shop.done("refund")) == ("denied", ["A1"])
