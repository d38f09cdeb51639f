"""Runs that were stopped from outside, in a replay: cancelled, or out of time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import stateward as sw
from tests.charts.beside import compiled_beside, says
from tests.charts.drive import Driven
from tests.charts.one import One, compiled
from tests.charts.replayed import same
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


def cancelled(driven: Driven, began: threading.Event) -> Driven:
    """Cancel a session from another thread when its activity has begun."""

    def cancel() -> None:
        began.wait()
        driven.session.cancel(by="ann", reason="a typo")

    other = threading.Thread(target=cancel)
    other.start()
    assert driven.start({}).status == "cancelled"
    other.join()
    return driven


def endless(began: threading.Event) -> Any:
    async def look_and_wait(state: Any, run: sw.Run[Any]) -> Any:
        await run.tool("lookup", order="A")
        began.set()
        await asyncio.Event().wait()

    return look_and_wait


def test_cancelled_run_is_cancelled_at_the_same_step(drive: Drive) -> None:
    """Nobody waits for its activity; who cancelled it and why stand in the reason."""
    began = threading.Event()
    assert same(cancelled(drive(compiled(endless(began), box=Shop().box)), began))


def test_cancelled_regions_are_cancelled_after_the_ends_that_came_before(drive: Drive) -> None:
    """One had ended, the other was at work."""
    began = threading.Event()
    a = sw.State("S", do=says("a"), to="END")
    b = [sw.State("B1", do=says("b"), to="B2"), sw.State("B2", do=endless(began), tools=["lookup"], to="END")]
    assert same(cancelled(drive(compiled_beside([a], b, box=Shop().box)), began))


def test_waiting_run_that_was_cancelled_is_put_where_it_ended(drive: Drive) -> None:
    """That is no step of the chart."""
    driven = drive(sw.Chart("waits", One, sw.State("W", on=[sw.on("go", "W")])).compile())
    driven.start({})
    driven.session.cancel(by="ann", reason="a typo")
    assert same(driven)


def test_deadline_that_the_chart_took_is_taken_at_the_same_step(drive: Drive) -> None:
    """Without waiting for it."""

    async def forever(state: Any) -> Any:
        await asyncio.Event().wait()

    driven = drive(compiled(forever, handles=["fuse.deadline"]))
    config = {**driven.session.config, "configurable": {"thread_id": "s1", "deadline": 0.05}}
    graph = driven.session.graph
    graph.invoke({}, config) if driven.how == "sync" else asyncio.run(graph.ainvoke({}, config))
    assert driven.session.outcome().path == "HELP"
    assert same(driven)
