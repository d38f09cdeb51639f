"""A process that makes calls for a budget, beside others: `python -m tests.hazards.racer URL NUMBER`."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from dataclasses import replace

import stateward as sw
from stateward.govern.effective import effective
from stateward.govern.policy import Fuses, Policy
from stateward.run.door.activation import Activation
from stateward.run.door.door import Door
from stateward.run.door.signal import Trip
from stateward.run.store.database import Database

CALLS = 50
"""What each process wants."""
CAP = 60
"""What all of them may have."""
PLACE = Activation(session="race", run="r", branch="main", path="ACT", number=1)
POLICY = Policy(name="race", fuses=Fuses(calls=CAP))


@sw.tool(effect="pure")
async def work(n: int) -> int:
    """Work."""
    await asyncio.sleep(0)
    return n


async def race(database: Database, number: int) -> int:
    """Make all calls at once, and return how many were made.

    Args:
        database: Where the budget is.
        number: Which process this is, from 1.
    """
    made = 0

    async def call(n: int) -> None:
        nonlocal made
        place = replace(PLACE, number=number)
        door = Door(
            database=database,
            activation=place,
            effective=effective([("", POLICY)], path="ACT", tools=["work"]),
            tools={"work": work},
            fence=None,
            threads=database.threads,
            notify=lambda _: None,
        )
        with suppress(Trip):
            result = await door.tool("work", {"n": n}, call=n)
            made += result.ok

    await asyncio.gather(*(call(n) for n in range(1, CALLS + 1)))
    return made


if __name__ == "__main__":
    with sw.open(sys.argv[1]) as opened:
        print(asyncio.run(race(opened, int(sys.argv[2]))))
