"""The calls of one run share their places, as long as somebody holds on to them."""

from __future__ import annotations

import asyncio
import gc

from stateward.run.door.door import FAN_OUT
from stateward.run.governor.crowd import Crowd, Crowds


def test_runs_have_crowds_of_their_own() -> None:
    """One run finds its own again."""
    crowds = Crowds()
    one, other = crowds.of("s", run="r"), crowds.of("s", run="q")
    assert one is crowds.of("s", run="r")
    assert one is not other


def test_crowd_that_nobody_holds_on_to_is_forgotten() -> None:
    """Nothing of a session stays on the agent."""
    crowds = Crowds()
    marked = crowds.of("s", run="r").traffic
    gc.collect()
    assert crowds.of("s", run="r").traffic is not marked


def test_no_more_calls_than_places_are_under_way() -> None:
    """The others wait for their turn."""

    async def main() -> int:
        crowd, now, most = Crowd(), 0, 0

        async def call() -> None:
            nonlocal now, most
            async with crowd.aplace():
                now, most = now + 1, max(most, now + 1)
                await asyncio.sleep(0)
                now -= 1

        await asyncio.gather(*[call() for _ in range(3 * FAN_OUT)])
        return most

    assert asyncio.run(main()) == FAN_OUT


def test_quiet_comes_when_the_last_call_has_ended() -> None:
    """Who has tripped a fuse raises it only then."""

    async def main() -> list[str]:
        crowd, told = Crowd(), list[str]()

        async def call() -> None:
            async with crowd.aplace():
                await asyncio.sleep(0)
            told.append("ended")

        async def leave() -> None:
            await crowd.quiet()
            told.append("quiet")

        await asyncio.gather(call(), call(), leave())
        return told

    assert sorted(asyncio.run(main()), key=["ended", "quiet"].index) == ["ended", "ended", "quiet"]
