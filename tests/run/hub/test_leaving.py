"""Leaving: what a step leaves behind is stopped, closed and taken back, and nothing else is touched."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.errors import RunError
from stateward.run.hub.leaving import STOPPED
from stateward.run.store.database import Database
from tests.charts.beside import Gate, compiled_beside, says
from tests.charts.drive import Driven, policy
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


def test_calls_of_a_stopped_region_are_closed_and_those_of_others_are_not(drive: Drive, database: Database) -> None:
    """B's call is in flight when A's activity is stopped; it comes to its own end."""
    left = Gate()

    @sw.tool(effect="idempotent")
    async def hang() -> str:
        """Post an event, and wait for ever."""
        database.mailbox.post("s1", "skip")
        await asyncio.Event().wait()
        return "never"

    @sw.tool(effect="once")
    async def slow() -> str:
        """Wait until A's states were left."""
        await left.wait()
        return "done"

    def calls(name: str) -> Any:
        async def call(state: Any, run: sw.Run[Any]) -> Any:
            return {"log": [(await run.tool(name)).status]}

        return call

    a = sw.State("S", do=calls("hang"), tools=["hang"], to="END", on=sw.on("skip", "NEXT"))
    graph = compiled_beside(
        [a, sw.State("NEXT", do=says("next"), to="END", exit=left.open)],
        [sw.State("S", do=calls("slow"), tools=["slow"], to="END")],
        box=[hang, slow],
    )
    assert drive(graph).start({}).values["log"] == ["next", "ok"]
    found = {entry.name: (entry.status, entry.error) for entry in database.journal.entries("s1")}
    assert found == {"hang": ("failed", STOPPED), "slow": ("completed", None)}


def test_sync_activity_that_is_left_loses_its_update_and_its_door(drive: Drive, database: Database) -> None:
    """Its thread cannot be ended: it goes on, and pays for nothing more."""
    shop, gone, over = Shop(), threading.Event(), threading.Event()
    refused: list[str] = []

    def act(state: Any, run: sw.SyncRun[Any]) -> Any:
        database.mailbox.post("s1", "skip")
        gone.wait()
        try:
            run.tool("lookup", order="A1")
        except RunError as error:
            refused.append(str(error))
        over.set()
        return {"log": ["late"]}

    a = sw.State("S", do=act, tools=["lookup"], to="END", on=sw.on("skip", "END"))
    b = sw.State("S", on=sw.on("go", "END"))
    outcome = drive(compiled_beside([a], [b], box=shop.box)).start({})
    gone.set()
    over.wait()
    assert (outcome.path, outcome.values.get("log"), shop.effects, len(refused)) == ("P.A.END, P.B.S", [], [], 1)


def test_question_of_a_region_is_taken_back_when_another_ends_the_run(drive: Drive, database: Database) -> None:
    """Nobody waits for the answer."""

    async def refund(state: Any, run: sw.Run[Any]) -> Any:
        await run.tool("refund", order="A1")

    async def fail(state: Any) -> Any:
        while not database.asks.open("s1"):
            await asyncio.sleep(0)
        raise ValueError("no")

    graph = compiled_beside(
        [sw.State("S", do=refund, tools=["refund"], to="END")],
        [sw.State("S", do=fail, to="END", on=[sw.on("error.activity", "DONE")])],
        box=Shop().box,
        policy=policy("approve_refunds"),
    )
    assert drive(graph).start({}).status == "completed"
    assert database.asks.open("s1") == ()


def test_region_that_failed_ends_the_run_without_anothers_question(drive: Drive, database: Database) -> None:
    """Regions that wait for a person do not hold up the end."""
    failed = Gate()

    async def fail(state: Any) -> Any:
        failed.open()
        raise ValueError("no")

    async def refund(state: Any, run: sw.Run[Any]) -> Any:
        await failed.wait()
        while driven.session.outcome().path and not driven.control.get("failed"):
            await asyncio.sleep(0)
        await run.tool("refund", order="A1")

    graph = compiled_beside(
        [sw.State("S", do=fail, to="END")],
        [sw.State("S", do=refund, tools=["refund"], to="END")],
        box=Shop().box,
        policy=policy("approve_refunds"),
    )
    driven = drive(graph)
    with pytest.raises(ValueError, match="no"):
        driven.start({})
    assert (driven.session.outcome().status, database.asks.open("s1")) == ("failed", ())
