"""The brake of a call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stateward.run.brake import Brake, Halt
from stateward.run.drive import Bridge, LeftEarly, Steps, Work
from stateward.run.threads import Threads

END = Halt(status="cancelled", event="cancelled", data={})
EVENT = Halt(status="halted", event="fuse.deadline", data={}, is_event=True)


def waiting() -> Steps[str]:
    yield Work(afn=asyncio.Event().wait)
    return "done"


def stopped(halt: Halt) -> Steps[str]:
    return halt.event
    yield  # pragma: no cover  # a generator, as the real one


async def braked(brake: Brake, *halts: Halt) -> Any:
    node = asyncio.create_task(brake.drive(waiting, stopped, threads=Threads()))
    await asyncio.sleep(0)
    for halt in halts:
        await asyncio.to_thread(brake.pull, halt)
    return await node, node.cancelling()


def test_node_is_stopped_at_its_await() -> None:
    """From another thread; its task counts as cancelled by nobody."""
    assert asyncio.run(braked(Brake(Bridge()), END)) == ("cancelled", 0)


def test_call_that_is_to_end_begins_no_more_nodes() -> None:
    """The halt stands."""

    async def main() -> Any:
        brake = Brake(Bridge())
        brake.pull(END)
        return [await brake.drive(waiting, stopped, threads=Threads()) for _ in range(2)]

    assert asyncio.run(main()) == ["cancelled", "cancelled"]


def test_halt_that_is_an_event_is_taken_once() -> None:
    """The chart may go on after it."""
    brake = Brake(Bridge())
    brake.pull(EVENT)
    assert (brake.take(), brake.halt) == (EVENT, None)


def test_end_of_a_run_stands_before_an_event() -> None:
    """Whatever comes later."""
    brake = Brake(Bridge())
    for halt in (EVENT, END, EVENT):
        brake.pull(halt)
    assert brake.halt == END


def test_node_of_a_closed_loop_is_let_be() -> None:
    """It cannot go on, and whoever pulls the brake has other calls to stop."""
    loop, brake = asyncio.new_event_loop(), Brake(Bridge())

    async def main() -> asyncio.Task[Any]:
        node = asyncio.create_task(brake.drive(waiting, stopped, threads=Threads()))
        await asyncio.sleep(0)
        return node

    node = loop.run_until_complete(main())
    loop.close()
    brake.pull(END)
    assert (brake.halt, node.done()) == (END, False)
    node.get_coro().close()  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]  # nobody else will


def test_call_of_sync_code_is_ended() -> None:
    """It waits for the loop, and is let through again when the halt was taken."""
    bridge = Bridge()
    brake = Brake(bridge)
    brake.pull(EVENT)
    with pytest.raises(LeftEarly):
        bridge.call(asyncio.Event().wait)
    brake.take()
    assert bridge.call(lambda: asyncio.sleep(0, "through")) == "through"
    bridge.close()


def test_cancellation_by_the_caller_is_not_taken_for_a_halt() -> None:
    """It goes up, as ever."""

    async def main() -> None:
        node = asyncio.create_task(Brake(Bridge()).drive(waiting, stopped, threads=Threads()))
        await asyncio.sleep(0)
        node.cancel()
        with pytest.raises(asyncio.CancelledError):
            await node

    asyncio.run(main())
