"""Tools in processes of their own: killed on cancel, deadline and limit, with everything they began."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from stateward.run.brake import Halt
from stateward.run.door.process import Workers
from stateward.run.store.database import Database
from tests.charts import killable
from tests.charts.drive import Driven
from tests.charts.one import One, compiled

pytestmark = pytest.mark.slow
Drive = Callable[..., Driven]


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """Says that a tool has begun, and ends when all its processes have."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.fixture(scope="module")
def shared() -> Workers:
    """Processes for all tests: each new one imports everything anew."""
    return Workers()


@pytest.fixture(autouse=True)
def workers(shared: Workers, database: Database) -> Workers:
    """What the test's database has its tools run by."""
    database.threads.processes = shared
    return shared


def calling(name: str, **arguments: Any) -> Any:
    async def act(state: Any, run: sw.Run[Any]) -> Any:
        result = await run.tool(name, **arguments)
        return {"log": [result.status, result.value]}

    return act


def outcome_of(drive: Drive, tool: Any, **arguments: Any) -> Any:
    return drive(compiled(calling(tool.name, **arguments), box=[tool])).start({}).values["log"]


def graph_of(tool: Any, pipe: Path) -> Any:
    state = sw.State(
        "A", do=calling(tool.name, pipe=str(pipe)), tools=[tool.name], to="D", on=sw.on("fuse.deadline", "W")
    )
    chart = sw.Chart("c", One, state, sw.State("W", on=sw.on("end", "D")), sw.Final("D"))
    return chart.compile(tools=[tool])


async def begun(pipe: Path) -> Any:
    """Wait until a tool has begun; what is returned can be read to its end when its processes are gone."""
    reader = await asyncio.to_thread(pipe.open)
    await asyncio.to_thread(reader.readline)
    return reader


async def gone(reader: Any) -> bool:
    with reader:
        return await asyncio.to_thread(reader.read) == ""


def test_tool_runs_in_another_process(drive: Drive) -> None:
    """Arguments and context reach it as they are; what it prints disturbs nobody."""
    status, value = outcome_of(drive, killable.whereabouts, day=date(2026, 1, 2))
    assert (status, value["year"], value["session"]) == ("ok", 2026, "s1")
    assert value["pid"] != os.getpid()


def test_process_is_used_again(drive: Drive) -> None:
    """The second call need not import everything anew."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("whereabouts", day="2026-01-02")).value["pid"] for _ in range(2)]}

    first, second = drive(compiled(act, box=[killable.whereabouts])).start({}).values["log"]
    assert first == second


@pytest.mark.parametrize(
    ("kind", "told"), [("key", "KeyError: 'x'"), ("exit", "SystemExit: x"), ("bytes", "it ran, but")]
)
def test_error_comes_back_with_its_type(drive: Drive, kind: str, told: str) -> None:
    """As from a tool in a thread; so does a result that cannot be kept."""
    status, value = outcome_of(drive, killable.fail, kind=kind)
    assert (status, value["error"]["reason"].startswith(told)) == ("failed", True)


@pytest.mark.parametrize(("code", "told"), [(3, "exit code 3"), (-9, "signal 9")])
def test_of_a_process_that_died_nobody_knows_what_it_did(drive: Drive, code: int, told: str) -> None:
    """The observation says how it ended; the run goes on."""
    status, value = outcome_of(drive, killable.die, code=code)
    assert (status, told in value["error"]["reason"]) == ("unknown", True)


@pytest.mark.parametrize("tool", [killable.hang, killable.hang_below])
def test_cancelled_call_leaves_no_process(database: Database, pipe: Path, tool: Any) -> None:
    """Neither the tool's own nor what it has started; the effect is unknown, and the session free."""
    session = sw.Session("s1", graph_of(tool, pipe), database)

    async def main() -> Any:
        task = asyncio.create_task(session.astart({}))
        reader = await begun(pipe)
        told = await session.acancel(by="ann", wait_s=60)
        return told.status, (await task).status, await gone(reader)

    assert asyncio.run(main()) == ("cancelled", "cancelled", True)
    assert [entry.status for entry in database.journal.entries("s1")] == ["unknown"]
    assert database.leases.held("s1") is None


def test_cancelled_task_kills_its_process(database: Database, pipe: Path) -> None:
    """What may happen again is made again when the run is gone on with."""
    session = sw.Session("s1", graph_of(killable.hang_again, pipe), database)

    async def cut(call: Any) -> bool:
        task = asyncio.create_task(call)
        reader = await begun(pipe)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await gone(reader)

    assert [asyncio.run(cut(call())) for call in (lambda: session.astart({}), session.aresume)] == [True, True]
    assert [(entry.status, entry.tries) for entry in database.journal.entries("s1")] == [("started", 2)]


def test_deadline_kills_the_process(database: Database, pipe: Path) -> None:
    """The chart takes the event, and the session is free."""
    session = sw.Session("s1", graph_of(killable.hang, pipe), database, deadline_s=60)

    async def main() -> Any:
        task = asyncio.create_task(session.astart({}))
        reader = await begun(pipe)
        live = database.registry.find("s1")
        assert live is not None
        live.halt(Halt(status="halted", event="fuse.deadline", data={}, is_event=True))
        return (await task).path, await gone(reader)

    assert asyncio.run(main()) == ("W", True)
    assert [entry.status for entry in database.journal.entries("s1")] == ["unknown"]


def test_call_that_takes_too_long_is_given_up(drive: Drive, database: Database, pipe: Path) -> None:
    """It had not even begun, so that everybody knows that nothing happened; a process that was kept is of use."""
    database.threads.processes = Workers()
    tool = replace(killable.hang, timeout_s=0.01)
    assert outcome_of(drive, tool, pipe=str(pipe))[0] == "timeout"
    assert all(worker.is_alive for worker in database.threads.processes.idle)
    assert [entry.status for entry in database.journal.entries("s1")] == ["failed"]
