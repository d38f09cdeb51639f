"""The straight way in: one transaction for a call that nothing stands in the way of, the long way for any other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

import stateward as sw
from stateward.govern.policy import Fuses, Policy
from stateward.run.door.straight import LARGEST
from stateward.run.store.database import Database
from stateward.run.store.sqlite import SqliteConnection
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.refunds import asking, look_then_refund, look_then_refund_sync
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def statements(database: Database) -> Iterator[list[str]]:
    """What the database of the test is asked."""
    asked: list[str] = []
    connection = database._connection  # pyright: ignore[reportPrivateUsage]  # what reaches it is what is counted
    raw = cast(SqliteConnection, connection).raw
    raw.set_trace_callback(asked.append)
    yield asked
    raw.set_trace_callback(None)


def of_the_last_call(asked: list[str]) -> list[str]:
    """The transaction before the one in which the last call was settled, and that one."""
    settled = max(place for place, one in enumerate(asked) if one.startswith("UPDATE stateward_journal"))
    first = [place for place in range(settled) if asked[place].startswith("BEGIN")][-2]
    return [one.split()[0] for one in asked[first : asked.index("COMMIT", settled) + 1]]


async def twice(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("lookup", order=order)).status for order in "AB"]}


def twice_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": [run.tool("lookup", order=order).status for order in "AB"]}


@pytest.mark.parametrize("do", [twice, twice_sync])
def test_a_call_asks_the_database_nothing_twice(drive: Drive, shop: Shop, statements: list[str], do: Any) -> None:
    """Fence and standing, then the entry and its reservation; fence, then the end, its charge and its record."""
    drive(compiled(do, box=shop.box)).start({})
    begun = ["BEGIN", "SELECT", "SELECT", "INSERT", "INSERT", "COMMIT"]
    ended = ["BEGIN", "SELECT", "UPDATE", "INSERT", "SELECT", "INSERT", "COMMIT"]
    assert of_the_last_call(statements) == begun + ended


async def asks(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.model().ainvoke("hello")).text for _ in range(2)]}


def asks_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": [run.model().invoke("hello").text for _ in range(2)]}


@pytest.mark.parametrize("do", [asks, asks_sync])
def test_a_model_goes_straight_as_well(drive: Drive, statements: list[str], do: Any) -> None:
    """Its call is judged and begun in one transaction, and settled in another."""
    drive(compiled(do, models={"m": ScriptedModel.of("a", "b")}, model="m")).start({})
    assert of_the_last_call(statements).count("BEGIN") == 2


@pytest.mark.parametrize("do", [look_then_refund, look_then_refund_sync])
def test_calls_that_were_made_come_from_the_journal(drive: Drive, shop: Shop, do: Any) -> None:
    """An activity that is entered again makes none of them a second time, and the new one goes straight."""
    driven = drive(asking(shop, do))
    driven.answer(driven.start({"text": "x"}).asks[0])
    entries = driven.session.database.journal.entries("s1")
    assert [(each.name, each.status, each.tries) for each in entries] == [
        ("lookup", "completed", 1),
        ("refund", "completed", 1),
    ]


async def look(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("lookup", order=state["text"])).status]}


def look_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": [run.tool("lookup", order=state["text"]).status]}


@pytest.mark.parametrize("do", [look, look_sync])
def test_large_arguments_are_not_looked_through_under_the_lock(
    drive: Drive, shop: Shop, do: Any, statements: list[str]
) -> None:
    """They take the long way, and come to the same."""
    outcome = drive(compiled(do, box=shop.box)).start({"text": "x" * LARGEST})
    assert outcome.values["log"] == ["ok"]
    looked = [one for one in statements if one.startswith("SELECT session, run, branch") and "AND call = 1" in one]
    assert len(looked) == 1


@pytest.fixture
def backend() -> str:
    """One whose statements can be listened to, whatever the suite runs over."""
    return "memory"


@pytest.mark.parametrize("do", [twice, twice_sync])
def test_the_last_place_under_a_limit_is_one_calls(drive: Drive, shop: Shop, do: Any, database: Database) -> None:
    """What somebody else has reserved meanwhile is seen by the transaction that begins the call."""
    policy = Policy(name="two", fuses=Fuses(calls=2))
    taken: list[int] = []

    @sw.tool(effect="pure", name="lookup")
    def taking(order: str) -> str:
        with database.transaction("s1") as cur:
            cur.execute("UPDATE stateward_ledger SET reserved = reserved + 1000000000 WHERE unit = 'calls'")
        taken.append(1)
        return order

    outcome = drive(compiled(do, box=[taking], policy=policy, handles=["fuse.calls"])).start({})
    assert (outcome.path, taken) == ("HELP", [1])
