"""Orders to a call that runs elsewhere: another database object stands for another process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl

import stateward as sw
from stateward.errors import SessionBusy
from stateward.run.store.database import Database
from stateward.testing import ManualClock
from tests.charts.drive import Driven
from tests.charts.one import One, compiled
from tests.charts.waiting import waiting

Drive = Callable[..., Driven]


@pytest.fixture
def url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that others can reach."""
    if backend == "postgresql":
        return request.getfixturevalue("postgres").url()
    return f"sqlite:///{tmp_path / 'shared.db'}"


@pytest.fixture
def elsewhere(url: str, clock: ManualClock, database: Database) -> Iterator[Database]:
    """The same database, as another process has it."""
    with sw.open(url, clock=clock) as opened:
        yield opened


class Stuck:
    """An activity that begins and does not end."""

    def __init__(self) -> None:
        self.begun = threading.Event()

    async def __call__(self, state: Any) -> None:
        self.begun.set()
        await asyncio.Event().wait()


def test_run_of_another_process_is_cancelled(drive: Drive, elsewhere: Database) -> None:
    """It finds the order, and stops; who and why are in its end."""
    stuck = Stuck()
    graph = compiled(stuck)
    driven = drive(graph)
    with driven.running() as came:
        stuck.begun.wait()
        told = Driven(sw.Session("s1", graph, elsewhere), driven.how).cancel(reason="no need")
    assert (told.status, came) == ("cancelled", [told])
    assert elsewhere.leases.held("s1") is None


def test_order_to_drain_reaches_another_process(drive: Drive, elsewhere: Database) -> None:
    """It ends when its step does, and the run can be gone on with."""
    begun, told = threading.Event(), threading.Event()

    async def act(state: Any) -> dict[str, Any]:
        begun.set()
        await asyncio.to_thread(told.wait)
        return {"text": "kept"}

    chart = sw.Chart("two", One, sw.State("A", do=act, to="B"), sw.State("B", do=act, to="C"), sw.Final("C"))
    driven = drive(chart.compile())
    control, session = RunControl(), driven.session
    config = session.config
    thread = threading.Thread(target=lambda: _drained(session, config, control, driven.how))
    thread.start()
    begun.wait()
    with pytest.raises(SessionBusy, match="the order stands"):
        sw.Session("s1", chart.compile(), elsewhere).drain(wait_s=0)
    while not control.drain_requested:
        pass
    told.set()
    thread.join()
    outcome = session.outcome()
    assert (outcome.status, outcome.path, outcome.values["text"]) == ("running", "B", "kept")


def _drained(session: sw.Session, config: Any, control: RunControl, how: str) -> None:
    graph = session.graph
    with suppress(GraphDrained):
        graph.invoke({}, config, control=control) if how == "sync" else asyncio.run(
            graph.ainvoke({}, config, control=control)
        )


def test_order_is_not_meant_for_the_next_call(drive: Drive, elsewhere: Database) -> None:
    """It names the lease of the call that was at work."""
    elsewhere.orders.give("s1", fence=7, kind="cancelled", by="ann", reason="")
    assert drive(waiting().compile()).start({}).status == "waiting"
