"""Stopping."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from stateward.cli.stop import Stop, Stopped, stopping_on_signals


def test_a_stop_reaches_every_run_under_way():
    """Each of their controls is asked to drain."""

    async def work() -> None:
        stop = Stop()
        with stop.control() as first, stop.control() as second:
            stop.request()
            assert (first.drain_requested, second.drain_requested) == (True, True)

    asyncio.run(work())


def test_nothing_is_begun_after_a_stop():
    """A run that comes later is refused at once."""

    async def work() -> None:
        stop = Stop()
        stop.request()
        with pytest.raises(Stopped), stop.control():
            raise AssertionError("begun")

    asyncio.run(work())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_ask_for_a_stop(number):
    """While the block runs; afterwards they do what they did before."""

    async def work() -> None:
        async with stopping_on_signals() as stop:
            os.kill(os.getpid(), number)
            while not stop.requested:
                await asyncio.sleep(0)

    before = signal.getsignal(number)
    asyncio.run(work())
    assert signal.getsignal(number) == before


def test_what_a_task_raises_is_raised():
    """Only `Stopped` is expected."""

    async def fail() -> None:
        raise ValueError("broken")

    async def work() -> None:
        await Stop().finish([asyncio.create_task(fail())])

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(work())
