"""One generator of decisions, two drivers."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from stateward.run.drive import Bridge, Steps, Work, drive_async, drive_sync
from stateward.testing import How

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


@pytest.fixture
def bridge() -> Iterator[Bridge]:
    made = Bridge()
    yield made
    made.close()


def run(steps: Steps[Any], how: How, bridge: Bridge) -> Any:
    return drive_sync(steps, bridge=bridge) if how == "sync" else asyncio.run(drive_async(steps))


async def double(number: int) -> int:
    return number * 2


def add(number: int) -> int:
    return number + 1


def test_results_are_sent_back(how: How, bridge: Bridge) -> None:
    """Sync work, async work, and the generator's own result."""

    def steps() -> Steps[int]:
        first = yield Work(fn=add, args=(1,))
        second = yield Work(afn=double, args=(first,))
        return second

    assert run(steps(), how, bridge) == 4


def test_each_driver_takes_its_own_form(how: How, bridge: Bridge) -> None:
    """Work with both forms runs in the caller's way."""

    async def asynchronous() -> str:
        return "async"

    def steps() -> Steps[str]:
        return (yield Work(fn=lambda: "sync", afn=asynchronous))

    assert run(steps(), how, bridge) == how


class Signal(BaseException):
    """No Exception."""


@pytest.mark.parametrize("kind", [ValueError, Signal])
@pytest.mark.parametrize("form", ["fn", "afn"])
def test_what_work_raises_is_thrown_in(how: How, bridge: Bridge, kind: Any, form: str) -> None:
    """The generator decides; a signal does not bring down the loop."""

    def fail() -> None:
        raise kind

    async def afail() -> None:
        raise kind

    def steps() -> Steps[str]:
        try:
            yield Work(fn=fail) if form == "fn" else Work(afn=afail)
        except kind:
            return "caught"
        return "missed"

    assert run(steps(), how, bridge) == "caught"


def test_what_the_generator_raises_reaches_the_caller(how: How, bridge: Bridge) -> None:
    """Nothing is swallowed."""

    def steps() -> Steps[None]:
        yield Work(fn=add, args=(1,))
        raise KeyError("gone")

    with pytest.raises(KeyError):
        run(steps(), how, bridge)


def test_context_variables_reach_the_work(how: How, bridge: Bridge) -> None:
    """Threads see what the caller set."""

    def steps() -> Steps[str]:
        VARIABLE.set("set")
        return (yield Work(fn=VARIABLE.get))

    assert run(steps(), how, bridge) == "set"


def test_sync_work_does_not_block_the_loop() -> None:
    """`ainvoke` puts it into a thread."""

    def steps() -> Steps[int]:
        return (yield Work(fn=threading.get_ident))

    assert asyncio.run(drive_async(steps())) != threading.get_ident()


def test_bridge_crosses_to_the_callers_loop() -> None:
    """Under `ainvoke`, sync code's async work runs on the loop of the graph."""

    async def main() -> bool:
        loop = asyncio.get_running_loop()
        bridge = Bridge(loop=loop)

        async def here() -> bool:
            return asyncio.get_running_loop() is loop

        return await loop.run_in_executor(None, lambda: bridge.call(here))

    assert asyncio.run(main())


def test_closed_bridge_leaves_no_thread(bridge: Bridge) -> None:
    """The loop's thread ends with the invocation."""
    before = threading.active_count()
    assert bridge.call(lambda: double(2)) == 4
    bridge.close()
    assert threading.active_count() == before
