"""Calls that are being made."""

from __future__ import annotations

import asyncio

import pytest

from stateward.run.in_flight import InFlight


def test_rest_waits_for_the_calls_of_others() -> None:
    """And not for the caller's own."""

    async def main() -> list[str]:
        flight, log, go = InFlight(), [], asyncio.Event()

        async def other() -> None:
            with flight.call():
                await go.wait()
                log.append("other")

        task = asyncio.create_task(other())
        await asyncio.sleep(0)
        with flight.call():
            asyncio.get_running_loop().call_soon(go.set)
            await flight.rest()
        log.append("rested")
        await task
        return log

    assert asyncio.run(main()) == ["other", "rested"]


def test_rest_may_cancel_them() -> None:
    """When the activity itself was cancelled."""

    async def main() -> None:
        flight = InFlight()

        async def forever() -> None:
            with flight.call():
                await asyncio.Event().wait()

        task = asyncio.create_task(forever())
        await asyncio.sleep(0)
        await flight.rest(cancel=True)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_nothing_in_flight_is_no_wait() -> None:
    """The common case costs nothing."""
    asyncio.run(InFlight().rest())
