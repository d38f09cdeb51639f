"""Hazard 22: however many calls want a budget at once, in tasks, threads and processes, none passes its ceiling."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stateward as sw
from stateward.errors import FuseTripped
from stateward.govern.decision import CallRequest
from stateward.govern.effective import effective
from stateward.govern.kinds.pace import Pace
from stateward.govern.policy import Fuses, Policy
from stateward.run.door.door import Door
from stateward.run.door.outcome import Outcome
from stateward.run.door.signal import Trip
from stateward.run.door.tool import Tool
from stateward.run.door.traffic import Traffic
from stateward.run.store.database import Database
from tests.hazards.racer import CALLS, CAP, PLACE
from tests.postgres import Server

CENT = 0.01


@dataclass
class Race:
    """Calls of one run, each from an activity of its own, under one budget."""

    database: Database
    policy: Policy
    traffic: Traffic = field(default_factory=Traffic)
    now: int = 0
    most: int = 0
    made: int = 0

    def tools(self, pauses: int) -> dict[str, Tool]:
        @sw.tool(effect="pure")
        async def task() -> str:
            """Work on the loop."""
            self.now += 1
            self.most = max(self.most, self.now)
            for _ in range(pauses):
                await asyncio.sleep(0)
            self.now -= 1
            return "done"

        @sw.tool(effect="pure")
        def thread() -> str:
            """Work in a thread."""
            return "done"

        return {"task": task, "thread": thread}

    def door(self, pauses: int = 0) -> Door:
        return Door(
            database=self.database,
            activation=PLACE,
            effective=effective([("", self.policy)], path="ACT", tools=["task", "thread"]),
            tools=self.tools(pauses),
            fence=None,
            threads=self.database.threads,
            notify=lambda _: None,
            traffic=self.traffic,
        )

    async def run(self, calls: Sequence[tuple[str, int]]) -> None:
        async def call(number: int, name: str, pauses: int) -> None:
            with suppress(Trip):
                result = await self.door(pauses).tool(name, {}, call=number)
                self.made += result.ok

        await asyncio.gather(*(call(number, *one) for number, one in enumerate(calls, 1)))

    def ask(self, number: int, cost: float) -> None:
        """Make a model call in this thread: at most a cent, in the end less."""
        request = CallRequest(
            kind="model", name="m", arguments={}, path="ACT", declared=frozenset({"m"}), estimate_usd=CENT
        )
        door = self.door()
        try:
            entry = door.admit_model(request, call=number)
        except FuseTripped:
            return
        door.settle_model(entry, Outcome(status="completed", result={}, spent={"usd": cost}))
        self.made += 1

    def spent(self, unit: str) -> float:
        return self.database.ledger.spent("race", run="r").get(("", unit), 0.0)


CALL = st.tuples(st.sampled_from(["task", "thread"]), st.integers(0, 3))


@settings(deadline=None, max_examples=15)
@given(st.lists(CALL, min_size=1, max_size=40), st.integers(0, 30), st.integers(1, 6))
def test_tasks_and_threads_never_pass_the_cap(calls: list[tuple[str, int]], cap: int, lanes: int) -> None:
    """As many are made as the cap lets, in no interleaving more, and no more of them at once than the pace says."""
    with sw.open("memory:") as database:
        race = Race(database, Policy(name="p", fuses=Fuses(calls=cap), pace=Pace(parallel=lanes)))
        asyncio.run(race.run(calls))
        assert race.made == min(cap, len(calls)) == race.spent("calls")
        assert race.most <= lanes


def test_a_hundred_calls_at_once_are_as_many_as_the_cap() -> None:
    """The case of the issue."""
    with sw.open("memory:") as database:
        race = Race(database, Policy(name="p", fuses=Fuses(calls=37)))
        asyncio.run(race.run([("task", 2)] * 100))
        assert (race.made, race.spent("calls")) == (37, 37.0)


@settings(deadline=None, max_examples=10)
@given(st.lists(st.floats(0, CENT), min_size=1, max_size=40), st.integers(0, 20))
def test_threads_never_spend_more_than_the_ceiling(costs: list[float], cents: int) -> None:
    """What calls cost in the end is never more than the ceiling, whoever comes first."""
    with sw.open("memory:") as database:
        race = Race(database, Policy(name="p", fuses=Fuses(usd=cents * CENT)))
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(race.ask, range(1, len(costs) + 1), costs))
        assert race.spent("usd") <= cents * CENT + 1e-9


def processes(url: str) -> int:
    """Let two processes race, and return how many calls they made together."""
    command = [sys.executable, "-m", "tests.hazards.racer", url]
    racers = [subprocess.Popen([*command, str(n)], stdout=subprocess.PIPE, text=True) for n in (1, 2)]
    return sum(int(racer.communicate(timeout=120)[0]) for racer in racers)


@pytest.mark.slow
def test_two_processes_on_one_file_share_the_cap(tmp_path: Path) -> None:
    """A hundred calls of two processes are sixty."""
    url = f"sqlite:///{tmp_path / 'race.db'}"
    sw.open(url).close()
    assert processes(url) == CAP < 2 * CALLS


@pytest.mark.slow
def test_two_processes_on_a_server_share_the_cap(postgres: Server) -> None:
    """On PostgreSQL as well."""
    url = postgres.url()
    sw.open(url).close()
    assert processes(url) == CAP < 2 * CALLS
