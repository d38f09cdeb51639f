"""Calls that are being made."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from stateward.errors import RunError
from stateward.run.door.in_flight import InFlight, together


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


def test_cancelled_call_that_does_not_stop_is_left_behind() -> None:
    """Waiting for it would be for ever."""

    async def main() -> bool:
        flight, go = InFlight(), asyncio.Event()

        async def stubborn() -> None:
            with flight.call():
                while not go.is_set():
                    with contextlib.suppress(asyncio.CancelledError):
                        await go.wait()

        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0)
        await flight.rest(cancel=True)
        running = not task.done()
        go.set()
        await task
        return running

    assert asyncio.run(main())


def test_no_call_begins_after_the_end() -> None:
    """An activity that was left behind by its limit acts no more."""
    flight = InFlight()
    flight.close()
    with pytest.raises(RunError, match="over"), flight.call():
        pass


def test_inside_of_a_call_is_known_in_tasks_and_threads() -> None:
    """There nothing is called, but in another activity everything is."""
    flight, other = InFlight(), InFlight()

    async def check(of: InFlight) -> None:
        of.check_outside()

    async def main() -> None:
        with flight.inside():
            for refused in (check(flight), asyncio.create_task(check(flight)), asyncio.to_thread(flight.check_outside)):
                with pytest.raises(RunError, match="no calls of its own"):
                    await refused
            await check(other)
        await check(flight)

    asyncio.run(main())


def test_calls_together_raise_nothing() -> None:
    """What they raise is a value, even what would bring down the loop."""

    async def end(error: BaseException | None) -> str:
        if error is not None:
            raise error
        return "ok"

    errors = [SystemExit(), ValueError(), asyncio.CancelledError()]

    async def main() -> list[object]:
        return list(await together(end(error) for error in (*errors, None)))

    assert asyncio.run(main()) == [*errors, "ok"]


def test_calls_together_are_cancelled_together() -> None:
    """A cancellation from outside is none of their results."""
    ended: list[bool] = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def main() -> None:
        task = asyncio.create_task(together((wait(), wait())))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ended == [True, True]


def test_a_single_call_is_made_by_who_asks() -> None:
    """It runs beside nothing; what it raises is a value, as it is of many."""

    async def who() -> asyncio.Task[object] | None:
        return asyncio.current_task()

    async def main() -> list[object]:
        return [*(await together([who()])), asyncio.current_task(), *(await together([fail()]))]

    made, own, failed = asyncio.run(main())
    assert made is own
    assert isinstance(failed, ZeroDivisionError)


async def fail() -> None:
    raise ZeroDivisionError


def test_a_cancelled_caller_ends_its_single_call() -> None:
    """And is cancelled itself."""

    async def main() -> bool:
        task = asyncio.create_task(together([asyncio.Event().wait()]))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    assert asyncio.run(main())


def test_a_single_call_may_be_closed() -> None:
    """A coroutine that is dropped in its middle does not go on."""
    dropped = together([asyncio.sleep(0)])
    dropped.send(None)
    dropped.close()
    assert dropped.cr_frame is None
