"""A loop of ours is another call's only if its last one has left nothing on it."""

from __future__ import annotations

import asyncio
import contextvars
import os
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from stateward.run import loop_thread
from stateward.run.drive import Bridge
from stateward.run.loop_thread import MOST_IDLE, Loops, LoopThread
from tests.charts.one import compiled

PATIENT_S = 10.0
VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


@pytest.fixture
def loops() -> Iterator[Loops]:
    made = Loops()
    yield made
    while made.idle:
        made.take().leave(None, patience_s=PATIENT_S)


def called(loops: Loops, work: Callable[[], Any]) -> LoopThread:
    """Do some work on a loop, as one call of a graph does, and return the loop that was left."""

    async def main() -> Any:
        return await came if asyncio.iscoroutine(came := work()) else came

    taken = loops.take()
    asyncio.run_coroutine_threadsafe(main(), taken.loop).result()
    taken.leave(loops, patience_s=PATIENT_S)
    return taken


async def parts() -> AsyncGenerator[int]:
    yield 1
    yield 2


async def begin(generator: AsyncGenerator[int]) -> None:
    await anext(generator)


async def all_parts() -> list[int]:
    return [part async for part in parts()]


async def in_time() -> None:
    async with asyncio.timeout(60):
        await asyncio.gather(all_parts(), all_parts())


def here() -> Any:
    return asyncio.get_running_loop()


@pytest.mark.parametrize("work", [lambda: None, all_parts, in_time])
def test_clean_loop_is_taken_by_the_next_call(loops: Loops, work: Callable[[], Any]) -> None:
    """Whatever was over before the call was."""
    first = called(loops, work)
    assert loops.idle == 1
    assert called(loops, work) is first


@pytest.mark.parametrize(
    "work",
    [
        lambda: here().create_task(asyncio.Event().wait()),
        lambda: here().call_later(60, print),
        lambda: here().set_exception_handler(lambda loop, context: None),
        lambda: here().set_task_factory(lambda loop, work, **more: asyncio.Task(work, loop=loop, **more)),
        lambda: here().set_debug(not here().get_debug()),
        lambda: here().set_default_executor(ThreadPoolExecutor()),
    ],
    ids=["task", "timer", "handler", "factory", "debug", "executor"],
)
def test_loop_with_something_left_on_it_ends_with_its_call(loops: Loops, work: Callable[[], Any]) -> None:
    """It is ended before the call is over, and never another one's."""
    left = called(loops, work)
    assert left.loop.is_closed()
    assert loops.idle == 0


def test_loop_with_an_open_generator_ends_with_its_call(loops: Loops) -> None:
    """Its end runs on the loop that it began on."""
    made = parts()
    left = called(loops, lambda: begin(made))
    assert (left.loop.is_closed(), made.ag_frame) == (True, None)


def test_loop_with_an_open_socket_ends_with_its_call(loops: Loops) -> None:
    """Nobody is told any more what comes there."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert called(loops, lambda: here().add_reader(ours, print)).loop.is_closed()


def test_loop_whose_executor_is_at_work_ends_with_its_call(loops: Loops) -> None:
    """What comes of that has nowhere to come to."""
    release = Future[None]()
    left = called(loops, lambda: here().run_in_executor(None, release.result))
    release.set_result(None)
    assert left.loop.is_closed()


def test_blocked_loop_is_left_behind_and_not_kept(loops: Loops) -> None:
    """It ends when it can; a late answer keeps nothing."""
    release, taken = threading.Event(), loops.take()
    taken.loop.call_soon_threadsafe(release.wait)
    taken.leave(loops, patience_s=0)
    release.set()
    taken.leave(None, patience_s=PATIENT_S)
    assert (loops.idle, taken.is_alive) == (0, False)


def test_broken_loop_is_not_waited_for(loops: Loops) -> None:
    """It has ended by itself."""

    def exit() -> None:
        raise SystemExit(3)

    taken = loops.take()
    taken.loop.call_soon_threadsafe(exit)
    taken.leave(loops, patience_s=PATIENT_S)
    assert isinstance(taken.broken, SystemExit)
    assert (loops.idle, taken.is_alive) == (0, False)


def test_only_so_many_loops_wait(loops: Loops) -> None:
    """More calls at the same time have loops that end with them."""
    taken = [loops.take() for _ in range(MOST_IDLE + 1)]
    for each in taken:
        each.leave(loops, patience_s=PATIENT_S)
    assert loops.idle == MOST_IDLE
    assert [each.is_alive for each in taken] == [True] * MOST_IDLE + [False]


def test_loop_that_nobody_wants_ends(loops: Loops, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a moment, by itself."""
    monkeypatch.setattr(loop_thread, "IDLE_S", 0.0)
    before = set(threading.enumerate())
    taken = called(loops, lambda: None)
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENT_S)
    assert (loops.idle, taken.loop.is_closed()) == (0, True)


def test_child_has_no_loop_of_its_parent(loops: Loops, monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread comes along when a process is forked off."""
    kept = called(loops, lambda: None)
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: -1)
        assert loops.idle == 0
    kept.leave(None, patience_s=PATIENT_S)


def test_call_on_a_kept_loop_has_its_callers_context(loops: Loops) -> None:
    """And not that of the call before it."""

    async def seen() -> str:
        return VARIABLE.get()

    def bridged() -> str:
        bridge = Bridge(loops=loops)
        try:
            return bridge.call(seen)
        finally:
            bridge.close()

    VARIABLE.set("caller")
    assert (bridged(), loops.idle) == ("caller", 1)
    assert contextvars.Context().run(bridged) == "unset"


def test_sync_calls_of_a_graph_share_a_loop() -> None:
    """Copies of it too; each call has it alone."""
    seen: list[Any] = []

    async def look(state: Any) -> None:
        seen.append(here())

    graph = compiled(look)
    graph.invoke({})
    graph.with_config(tags=["x"]).invoke({})
    assert seen[0] is seen[1]
