"""The calls at work in this process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.errors import InputRefused
from stateward.run.brake import Halt
from stateward.run.registry import Live, Order, Registry
from stateward.run.store.database import Database
from stateward.run.store.orders import cancelling
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.run.store.forking import in_child
from tests.run.store.interrupting import interrupted

Drive = Callable[..., Driven]
HALT = cancelling(by="ann", reason="")


def live(
    session: str = "s1", *, fence: int = 1, halts: list[Halt] | None = None, drains: list[Any] | None = None
) -> Live:
    """Make an entry that writes down how it is stopped."""
    return Live(
        session=session,
        graph="g",
        fence=fence,
        since=0.0,
        thread="t",
        halt=(halts if halts is not None else []).append,
        drain=lambda: (drains if drains is not None else []).append(session),
    )


class Seen:
    """An activity that looks at the registry while it runs."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.calls: list[tuple[str, str, int]] = []

    def __call__(self, state: Any) -> dict[str, Any]:
        self.calls = [(one.session, one.graph, one.fence) for one in self.database.registry.list()]
        if state.get("text"):
            raise RuntimeError(state["text"])
        return {}


def test_call_is_found_while_it_runs(drive: Drive, database: Database) -> None:
    """By its session, with the graph's name and the fence of its lease."""
    seen = Seen(database)
    drive(compiled(seen)).start({})
    assert (seen.calls, database.registry.list()) == ([("s1", "one", 1)], ())


def test_entry_goes_when_the_run_fails(drive: Drive, database: Database) -> None:
    """However a call ends, nobody finds it any more."""
    with pytest.raises(RuntimeError, match="broken"):
        drive(compiled(Seen(database))).start({"text": "broken"})
    assert database.registry.find("s1") is None


def test_entry_goes_when_the_input_is_refused(drive: Drive, database: Database) -> None:
    """The call had the lease for a moment."""
    with pytest.raises(InputRefused):
        drive(compiled(Seen(database))).start({"nonsense": 1})
    assert database.registry.list() == ()


def test_entry_goes_when_the_task_is_cancelled(database: Database) -> None:
    """The run can be resumed, and nothing runs it."""
    begun = asyncio.Event()

    async def forever(state: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def main() -> None:
        task = asyncio.create_task(sw.Session("s1", compiled(forever), database).astart({}))
        await begun.wait()
        assert database.registry.find("s1") is not None
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert database.registry.list() == ()


def test_entry_goes_when_a_sync_stream_is_left(database: Database) -> None:
    """Its reader has gone."""
    stream = compiled(Seen(database)).attach(database).stream({}, {"configurable": {"thread_id": "s1"}})
    next(stream)
    found = database.registry.find("s1")
    stream.close()  # pyright: ignore[reportAttributeAccessIssue]  # it is a generator
    assert (found is not None, database.registry.list()) == (True, ())


def test_entry_goes_when_an_async_stream_is_left(database: Database) -> None:
    """Python closes it some turns of the loop after it was left."""
    graph = compiled(Seen(database)).attach(database)

    async def main() -> None:
        async for _ in graph.astream({}, {"configurable": {"thread_id": "s1"}}):
            assert database.registry.find("s1") is not None
            break

    asyncio.run(main())
    assert database.registry.list() == ()


async def begun(graph: Any, database: Database, started: asyncio.Event) -> asyncio.Task[Any]:
    """Begin a run and wait until its activity has begun."""
    task = asyncio.create_task(sw.Session("s1", graph, database).astart({}))
    await started.wait()
    return task


def test_lease_is_given_back_although_the_loop_ends(database: Database) -> None:
    """A host that runs a loop for each job, cancels and goes, while all threads of the database are taken."""
    gate, pool = threading.Event(), database.threads.database

    async def forever(state: Any) -> None:
        started.set()
        await asyncio.Event().wait()

    async def open_gate() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            gate.set()

    async def main() -> None:
        task, _ = await begun(compiled(forever), database, started), asyncio.create_task(open_gate())
        for _ in range(pool.limit):
            pool.submit(gate.wait)
        task.cancel()
        while not pool.waiting:
            await asyncio.sleep(0)

    started = asyncio.Event()
    asyncio.run(main())
    assert (database.leases.held("s1"), database.registry.list()) == (None, ())


@pytest.mark.parametrize(
    "module",
    ["invocation.py", "registry.py", "call.py", "drive.py", "graph.py", "lease.py", ("sqlite.py", "postgres.py")],
)
def test_interrupt_leaves_no_session_held(database: Database, module: str | tuple[str, ...]) -> None:
    """Ctrl-C while the lease is taken, checked or given back; nobody else would be let in as long as this lives."""
    graph, numbers = compiled(Seen(database)), iter(range(10_000))
    for at in numbers:
        try:
            with interrupted(at, module=module):
                sw.Session(f"s{at}", graph, database).start({})
        except KeyboardInterrupt:
            assert (database.leases.held(f"s{at}"), database.registry.list()) == (None, ())
        else:
            break
    assert next(numbers) > 2


def test_call_whose_loop_was_closed_is_ended() -> None:
    """Nothing of it can run any more, so nobody waits for it, and it is not renewed for ever."""

    async def forever(state: Any) -> None:
        started.set()
        await asyncio.Event().wait()

    def ended() -> str:
        with sw.open("memory:") as database:
            graph, loop = compiled(forever), asyncio.new_event_loop()
            task = loop.run_until_complete(begun(graph, database, started))
            over = database.registry.over("s1")
            loop.close()
            if over is not None:
                over.result(30)
            return f"{task.done()} {sw.Session('s1', graph, database).cancel(by='ann').status}"

    started = asyncio.Event()
    assert in_child(ended) == "False cancelled"


def test_late_end_of_an_earlier_call_leaves_the_entry_alone() -> None:
    """A call that was taken over says goodbye to its own entry only."""
    registry = Registry()
    registry.enter(live(fence=2))
    registry.leave("s1", fence=1)
    assert registry.find("s1") is not None


def test_who_waits_for_the_end_is_told() -> None:
    """From whatever thread."""
    registry = Registry()
    registry.enter(live())
    over = registry.over("s1")
    assert over is not None
    assert not over.done()
    registry.leave("s1", fence=1)
    assert (over.done(), registry.over("s1")) == (True, None)


def test_order_of_another_process_reaches_the_call_that_is_meant() -> None:
    """And no neighbour, and no later call of the same session."""
    given = [Order(session="s1", fence=1, halt=HALT), Order(session="s2", fence=1, halt=None)]
    halts, drains, done = list[Halt](), list[Any](), threading.Event()

    def orders() -> list[Order]:
        found, given[:] = given[:], []
        done.set() if not found else None
        return found

    registry = Registry(orders)
    for each in (live("s1", halts=halts), live("s2", drains=drains), live("s3", halts=halts)):
        registry.enter(each)
    done.wait()
    registry.close()
    assert (halts, drains) == ([HALT], ["s2"])


def test_registry_that_is_closed_leaves_no_thread() -> None:
    """The end of a database waits for it."""
    registry = Registry(list[Order])
    registry.enter(live())
    registry.close()
    assert registry.looker is not None
    assert not registry.looker.is_alive()


def broken(session: str, *, drains: list[Any]) -> Live:
    """Make an entry of a call that cannot be told to stop."""

    def halt(_: Halt) -> None:
        raise RuntimeError(session)

    found = live(session, drains=drains)
    found.halt = halt
    return found


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_call_that_cannot_be_told_keeps_no_order_from_the_others() -> None:
    """All of a process are told by one thread."""
    given = [Order(session="s1", fence=1, halt=HALT), Order(session="s2", fence=1, halt=None)]
    drains, done = list[Any](), threading.Event()

    def orders() -> list[Order]:
        found, given[:] = given[:], []
        done.set() if not found else None
        return found

    registry = Registry(orders)
    registry.enter(broken("s1", drains=drains))
    registry.enter(live("s2", drains=drains))
    done.wait()
    assert drains == ["s2"]
    assert registry.looker is not None
    assert registry.looker.is_alive()
    registry.close()
