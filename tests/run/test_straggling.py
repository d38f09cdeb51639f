"""A call that is over while its sync code still runs: the session stays its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from stateward.errors import SessionBusy
from stateward.run.alarm import Alarm
from stateward.run.store.database import Database
from tests.charts.one import One
from tests.charts.stuck import Held


@pytest.fixture
def held() -> Iterator[Held]:
    """Sync code that a test lets end."""
    code = Held()
    yield code
    code.release.set()


def session_of(database: Database, held: Held, what: str, **rest: Any) -> sw.Session:
    do = {"activity": held.activity, "tool": held.calling, "sync tool": held.calling_sync}[what]
    state = sw.State("A", do=do, tools=["pay"], to="W", on=[sw.on("fuse.deadline", "W")])
    chart = sw.Chart("c", One, state, sw.State("W", on=[sw.on("go", "A"), sw.on("end", "D")]), sw.Final("D"))
    return sw.Session("s1", chart.compile(tools=[held.tool("once")]), database, queue=0, **rest)


async def cut(session: sw.Session, held: Held) -> None:
    """Cancel the task of a call whose sync code has begun."""
    task = asyncio.create_task(session.astart({}))
    await asyncio.to_thread(held.begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def over(database: Database) -> None:
    """Wait until the session is given back."""
    ended = database.registry.over("s1")
    if ended is not None:
        await asyncio.wrap_future(ended)


WHAT = pytest.mark.parametrize("what", ["activity", "tool", "sync tool"])


@WHAT
def test_cancelled_task_leaves_its_session_to_the_thread(database: Database, held: Held, what: str) -> None:
    """The caller is let go at once; nobody runs the activity beside the one that still runs."""
    session = session_of(database, held, what)

    async def main() -> tuple[bool, bool]:
        await cut(session, held)
        with pytest.raises(SessionBusy):
            await session.aresume()
        during = database.leases.held("s1") is not None
        held.release.set()
        await over(database)
        return during, database.leases.held("s1") is not None

    assert asyncio.run(main()) == (True, False)
    assert held.times == 1


def test_a_cut_call_is_unknown_at_once(database: Database, held: Held) -> None:
    """Whoever reads the journal sees it while the thread still runs."""
    session = session_of(database, held, "tool")
    asyncio.run(cut(session, held))
    assert [entry.status for entry in database.journal.entries("s1")] == ["unknown"]


@pytest.mark.parametrize("what", ["tool", "sync tool"])
def test_cancel_waits_for_the_thread_and_names_it(database: Database, held: Held, what: str) -> None:
    """The run is cancelled at once, the session is free when the tool has ended."""
    session = session_of(database, held, what)

    async def main() -> tuple[str, str, str]:
        task = asyncio.create_task(session.astart({}))
        await asyncio.to_thread(held.begun.wait)
        with pytest.raises(SessionBusy, match="the tool `pay` of `A`"):
            await session.acancel(by="ann", wait_s=0.2)
        (entry,) = database.journal.entries("s1")
        held.release.set()
        await over(database)
        return entry.status, session.outcome().status, (await task).status

    assert asyncio.run(main()) == ("unknown", "cancelled", "cancelled")
    assert database.leases.held("s1") is None


def test_deadline_lets_the_caller_go_and_keeps_the_session(
    database: Database, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chart takes the event; the next call waits until the thread has ended."""
    session, rings = session_of(database, held, "activity", deadline_s=60.0), list[Callable[[], object]]()
    monkeypatch.setattr(Alarm, "_later", lambda alarm, seconds, work: rings.append(work))

    async def main() -> str:
        task = asyncio.create_task(session.astart({}))
        await asyncio.to_thread(held.begun.wait)
        rings[0]()
        waiting = await task
        with pytest.raises(SessionBusy):
            await session.aresume("end")
        held.release.set()
        await over(database)
        assert waiting.path == "W"
        return (await session.aresume("end")).status

    assert asyncio.run(main()) == "completed"


def test_tool_past_its_own_limit_holds_nothing(database: Database, held: Held) -> None:
    """Its call was answered, and the run went on."""
    state = sw.State("A", do=held.calling, tools=["pay"], to="D")
    graph = sw.Chart("c", One, state, sw.Final("D")).compile(tools=[held.tool("once", timeout_s=0.05)])
    outcome = asyncio.run(sw.Session("s1", graph, database).astart({}))
    assert (outcome.status, database.leases.held("s1")) == ("completed", None)


def test_closing_the_database_does_not_give_the_session_away(held: Held, tmp_path: Path) -> None:
    """Another process that looks finds it held as long as the thread's process lives and its lease has time."""
    url = f"sqlite:///{tmp_path / 'closed.db'}"
    with sw.open(url) as opened:
        asyncio.run(cut(session_of(opened, held, "activity"), held))
    with sw.open(url) as other:
        assert other.leases.held("s1") is not None


def test_thread_may_end_after_its_database_was_closed(held: Held, url: str, caplog: pytest.LogCaptureFixture) -> None:
    """Nobody is left to be told; the lease runs out by itself."""
    with sw.open(url) as opened:
        asyncio.run(cut(session_of(opened, held, "activity"), held))
        ended = opened.registry.over("s1")
    held.release.set()
    assert ended is not None
    ended.result(10)
    assert caplog.records == []
