"""Tools and activities that hang, block or do not stop: the run goes on, and the process can end."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from langchain_core.tools import tool as langchain_tool

import stateward as sw
from stateward.errors import RunError
from stateward.run.store.database import Database
from tests.charts.drive import Driven, policy
from tests.charts.eager import Eager
from tests.charts.one import compiled

Drive = Callable[..., Driven]

LIMIT_S = 0.1
NOTICED_S = 60.0
"""Far more than a call that is given up at its limit takes, on a busy machine too."""


class Hanging:
    """Tools whose threads hang until the test ends."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.begun = threading.Semaphore(0)
        self.ended = threading.Semaphore(0)

    def wait(self) -> None:
        self.begun.release()
        self.release.wait()
        self.ended.release()

    def tool(self, *, effect: Any = "pure", timeout_s: float | None = LIMIT_S, **rest: Any) -> sw.Tool:
        @sw.tool(effect=effect, timeout_s=timeout_s, **rest)
        def hang() -> str:
            """Hang."""
            self.wait()
            return "late"

        return hang


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    made = Hanging()
    yield made
    made.release.set()


@pytest.fixture
def eager(database: Database) -> None:
    """Every call has begun before its limit is over: of one that had not, it is known that it did not run."""
    database.threads.tools = Eager("stateward-tool", limit=8)


async def call_hang(state: Any, run: sw.Run[Any]) -> Any:
    return statuses([await run.tool("hang")])


def call_hang_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return statuses([run.tool("hang")])


def statuses(results: Sequence[sw.ToolResult]) -> dict[str, Any]:
    return {"log": [result.status for result in results]}


# -- threads --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("do", [call_hang, call_hang_sync])
def test_hung_tool_is_a_timeout_and_the_run_goes_on(drive: Drive, hanging: Hanging, do: Any) -> None:
    """At its limit, while its thread still hangs; `invoke` and `ainvoke` return."""
    began = monotonic()
    outcome = drive(compiled(do, box=[hanging.tool()])).start({})
    assert (outcome.status, outcome.values["log"]) == ("completed", ["timeout"])
    assert LIMIT_S <= monotonic() - began < NOTICED_S


@pytest.mark.usefixtures("eager")
def test_hung_langchain_tool_is_given_up_too(drive: Drive, hanging: Hanging) -> None:
    """It has no thread of LangChain's choice: the loop would wait for that one at its end."""

    @langchain_tool
    def hang() -> None:
        """Hang."""
        hanging.wait()

    outcome = drive(compiled(call_hang, box=[hang], policy=policy("quick_calls"))).start({})
    assert (outcome.status, outcome.values["log"]) == ("completed", ["unknown"])


async def call_many(state: Any, run: sw.Run[Any]) -> Any:
    return statuses(await run.tools([{"name": "hang", "args": {}}] * 20))


async def call_hello(state: Any, run: sw.Run[Any]) -> Any:
    return statuses([await run.tool("hello")])


@sw.tool(effect="pure")
def hello() -> str:
    """Say hello."""
    return "hello"


def test_hung_tools_do_not_stall_other_sessions(drive: Drive, hanging: Hanging) -> None:
    """Twenty threads hang; another session of the same database and process calls its tools."""
    assert drive(compiled(call_many, box=[hanging.tool()])).start({}).values["log"] == ["timeout"] * 20
    assert drive(compiled(call_hello, box=[hello]), session="s2").start({}).values["log"] == ["ok"]


def test_call_that_finds_no_thread_is_known_not_to_have_run(drive: Drive, hanging: Hanging, database: Database) -> None:
    """Every thread hangs: the wait counts towards the limit, and a `once` call that never began is no riddle."""
    database.threads.tools.limit = 1
    database.threads.tools.submit(hanging.wait)
    driven = drive(compiled(call_hang, box=[hanging.tool(effect="once")]))
    assert driven.start({}).values["log"] == ["timeout"]
    (entry,) = database.journal.entries("s1")
    assert (entry.status, "not begun" in entry.result["error"]["reason"]) == ("failed", True)


@pytest.mark.usefixtures("eager")
def test_late_end_of_a_once_tool_writes_nothing(drive: Drive, hanging: Hanging, database: Database) -> None:
    """It is journaled `unknown`, the lease is free, and so it stays when the thread comes to its end."""
    driven = drive(compiled(call_hang, box=[hanging.tool(effect="once")]))
    assert driven.start({}).values["log"] == ["unknown"]
    assert database.leases.held("s1") is None
    before = everything(database)
    hanging.release.set()
    hanging.ended.acquire()
    assert database.threads.tools.submit(int).result() == 0
    assert everything(database) == before
    assert [entry.status for entry in database.journal.entries("s1")] == ["unknown"]


def everything(database: Database) -> list[str]:
    with database.read() as cur:
        return list(cur.connection.iterdump())


class Crash(BaseException):
    """Stands for the end of the process: no code of ours catches it as an error."""


def test_hung_look_up_is_given_up(drive: Drive, hanging: Hanging, database: Database) -> None:
    """Nobody knows how the call ended, so a person is asked; the database's threads stay free."""

    @sw.tool(effect="once", timeout_s=LIMIT_S, name="hang", lookup=lambda key: hanging.wait())
    async def crash() -> None:
        """Crash."""
        raise Crash

    driven = drive(compiled(call_hang, box=[crash]))
    with pytest.raises(Crash):
        driven.start({})
    assert len(driven.resume().asks) == 1


# -- async work -----------------------------------------------------------------------------------------


@sw.tool(effect="pure", timeout_s=LIMIT_S)
async def blocks() -> str:
    """Block the loop."""
    threading.Event().wait(2 * LIMIT_S)
    return "late"


@sw.tool(effect="pure", timeout_s=LIMIT_S)
async def swallows() -> str:
    """Swallow the cancellation."""
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    return "late"


@pytest.mark.parametrize("tool", [blocks, swallows])
@pytest.mark.parametrize(("effect", "status", "kept"), [("pure", "timeout", "failed"), ("once", "unknown", "unknown")])
def test_late_result_of_an_async_tool_does_not_count(
    drive: Drive, database: Database, tool: sw.Tool, effect: Any, status: str, kept: str
) -> None:
    """It comes after the limit, so it is a timeout; of a `once` tool nobody knows."""
    made = sw.tool(effect=effect, timeout_s=LIMIT_S, name="hang")(tool.fn)
    assert drive(compiled(call_hang, box=[made])).start({}).values["log"] == [status]
    assert [entry.status for entry in database.journal.entries("s1")] == [kept]


async def swallow(state: Any) -> Any:
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    return {"log": ["late"], "text": "late"}


def test_activity_that_swallows_its_limit_commits_nothing(drive: Drive) -> None:
    """The chart gets the event `timeout`."""
    outcome = drive(compiled(swallow, timeout_s=LIMIT_S, handles=["timeout"])).start({})
    assert (outcome.path, outcome.values.get("log", [])) == ("HELP", [])


class Stubborn:
    """An activity that goes on after its limit, whatever it is told, and then makes a call."""

    def __init__(self) -> None:
        self.raised: list[str] = []
        self.never = asyncio.Event()

    async def __call__(self, state: Any, run: sw.Run[Any]) -> Any:
        for _ in range(2):
            with contextlib.suppress(asyncio.CancelledError):
                await self.never.wait()
        try:
            await run.tool("hello")
        except RunError as error:
            self.raised.append(str(error))


def test_activity_left_behind_makes_no_calls(drive: Drive, database: Database) -> None:
    """Its run is over; it is cancelled again when the loop ends."""
    activity = Stubborn()
    driven = drive(compiled(activity, box=[hello], timeout_s=LIMIT_S, handles=["timeout"]))
    assert driven.start({}).path == "HELP"
    assert ["over" in text for text in activity.raised] == [True]
    assert database.journal.entries("s1") == ()


def hang_here(release: threading.Event, begun: threading.Event) -> Any:
    def activity(state: Any) -> None:
        begun.set()
        release.wait()

    return activity


def test_cancelled_run_does_not_wait_for_its_sync_activity(database: Database, hanging: Hanging) -> None:
    """The loop ends while the activity's thread hangs; the session is held until that has ended."""
    begun = threading.Event()
    graph = compiled(hang_here(hanging.release, begun)).attach(database)

    async def main() -> None:
        task = asyncio.create_task(graph.ainvoke({}, {"configurable": {"thread_id": "s1"}}))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    ended = database.registry.over("s1")
    assert ended is not None
    assert not ended.done()
    hanging.release.set()
    ended.result()
    assert database.leases.held("s1") is None


# -- the process ----------------------------------------------------------------------------------------

PROGRAM = """
import asyncio, sys, threading
import stateward as sw
from tests.charts.one import compiled

@sw.tool(effect="pure", timeout_s=0.1)
def hang() -> None:
    "Hang."
    threading.Event().wait()

async def act(state, run):
    return {"log": [(await run.tool("hang")).status]}

graph = compiled(act, box=[hang])
values = graph.invoke({}) if sys.argv[1] == "sync" else asyncio.run(graph.ainvoke({}))
print(values["log"])
"""


@pytest.mark.slow
def test_process_ends_although_a_tool_hangs(how: str) -> None:
    """No thread is joined at its end."""
    root = Path(__file__).parents[2]
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, how], cwd=root, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "['timeout']\n", "")
