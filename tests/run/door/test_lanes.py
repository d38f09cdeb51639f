"""Lanes: how many calls are under way, in which order they come, and that none waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.run.door.lanes import Lanes

ROOT, WORK = ("r", ""), ("r", "W")


def never() -> None:
    """Nobody stops the wait."""


async def most_at_once(lanes: Lanes, wishes: list[dict[Any, int]]) -> dict[Any, int]:
    """Make calls with these wishes at once, and return how many held each place at most."""
    now, most = dict[Any, int](), dict[Any, int]()

    async def call(wanted: dict[Any, int]) -> None:
        async with lanes.atake(wanted):
            for place in wanted:
                now[place] = now.get(place, 0) + 1
                most[place] = max(most.get(place, 0), now[place])
            await asyncio.sleep(0)
            for place in wanted:
                now[place] -= 1

    await asyncio.gather(*(call(wanted) for wanted in wishes))
    return most


@settings(deadline=None)
@given(st.lists(st.sampled_from([{ROOT: 3}, {ROOT: 3, WORK: 2}, {WORK: 2}, {}]), max_size=30))
def test_no_place_is_overfull_and_all_come_through(wishes: list[dict[Any, int]]) -> None:
    """Whatever scopes calls share, every one gets its turn, and no scope has more than it allows."""
    most = asyncio.run(most_at_once(Lanes(), wishes))
    assert most.get(ROOT, 0) <= 3
    assert most.get(WORK, 0) <= 2


def test_all_places_are_used() -> None:
    """A cap does not make calls slower than it says."""
    assert asyncio.run(most_at_once(Lanes(), [{ROOT: 5}] * 20)) == {ROOT: 5}


def test_threads_and_tasks_share_the_lanes() -> None:
    """A sync activity waits for a call of an async one."""
    lanes, order = Lanes(), list[str]()

    def in_thread() -> None:
        with lanes.take({ROOT: 1}, check=never):
            order.append("thread")

    async def main() -> None:
        thread = Thread(target=in_thread)
        async with lanes.atake({ROOT: 1}):
            thread.start()
            await asyncio.sleep(0)
            order.append("task")
        await asyncio.to_thread(thread.join)

    asyncio.run(main())
    assert order == ["task", "thread"]


def test_a_call_inside_another_goes_in_its_lane() -> None:
    """A nested agent under a cap of one does not wait for the tool that waits for it."""

    async def main(lanes: Lanes) -> str:
        async with lanes.atake({ROOT: 1}), lanes.atake({ROOT: 1}), lanes.atake({ROOT: 1}):
            return "through"

    assert asyncio.run(main(Lanes())) == "through"


def test_a_lane_is_lent_to_one_call_only() -> None:
    """Two calls side by side inside a third one are two."""

    async def main(lanes: Lanes) -> dict[Any, int]:
        async with lanes.atake({ROOT: 1}):
            return await most_at_once(lanes, [{ROOT: 1}] * 3)

    assert asyncio.run(main(Lanes())) == {ROOT: 1}


def test_a_call_that_outlives_the_one_around_keeps_the_lane() -> None:
    """The lane of a tool that has ended is free only when the call that it left behind has ended."""

    async def main(lanes: Lanes) -> list[str]:
        order, go_on = list[str](), asyncio.Event()

        async def inner() -> None:
            async with lanes.atake({ROOT: 1}):
                await go_on.wait()
                order.append("inner")

        async def other() -> None:
            async with lanes.atake({ROOT: 1}):
                order.append("other")

        later = asyncio.create_task(other(), context=None)
        async with asyncio.TaskGroup() as group:
            async with lanes.atake({ROOT: 1}):
                group.create_task(inner())
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            go_on.set()
        await later
        return order

    assert sorted(asyncio.run(main(Lanes()))) == ["inner", "other"]


def test_a_cancelled_wait_leaves_the_line() -> None:
    """Who comes after it is not held up."""

    async def main(lanes: Lanes) -> str:
        async def call() -> str:
            async with lanes.atake({ROOT: 1}):
                return "through"

        async with lanes.atake({ROOT: 1}):
            first = asyncio.create_task(asyncio.wait_for(_apart(call), 0.01))
            await asyncio.wait({first})
        return await _apart(call)

    assert asyncio.run(main(Lanes())) == "through"


async def _apart(call: Callable[[], Any]) -> Any:
    return await call()


def test_a_wait_in_a_thread_ends_when_nobody_waits_for_it() -> None:
    """What is asked meanwhile may raise."""

    def left() -> None:
        raise RuntimeError("left")

    lanes = Lanes()
    with ExitStack() as held:
        held.enter_context(_other_context(lanes))
        with pytest.raises(RuntimeError, match="left"), lanes.take({ROOT: 1}, check=left):
            pass
    with lanes.take({ROOT: 1}, check=left):
        pass


def _other_context(lanes: Lanes) -> Any:
    """Take the only lane for a call that is not around what follows."""
    stack = ExitStack()
    done = list[Any]()

    def hold() -> None:
        done.append(stack.enter_context(lanes.take({ROOT: 1}, check=never)))

    thread = Thread(target=hold)
    thread.start()
    thread.join()
    return stack
