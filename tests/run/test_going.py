"""How a session goes on: inputs that wait for their turn, and what its provider says."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import stateward as sw
from stateward.errors import InputRefused, SessionBusy
from stateward.run.store.database import Database
from tests.charts.beside import Gate
from tests.charts.one import compiled
from tests.charts.waiting import waiting


class Desk:
    """A session whose first input waits before a gate, while others come."""

    def __init__(self, database: Database, **terms: Any) -> None:
        self.gate = Gate()
        self.served: list[str] = []
        self.database = database
        self.session = sw.Session("s1", compiled(self.serve), database, **terms)

    async def serve(self, state: Any) -> None:
        if state["text"] == "0":
            await self.gate.wait()
        self.served.append(state["text"])

    async def come(self, *names: str) -> list[asyncio.Task[Any]]:
        """Let inputs come one after the other: the first is at work, the others have taken their turns."""
        tasks: list[asyncio.Task[Any]] = []
        for place, name in enumerate(names):
            tasks.append(asyncio.create_task(self.session.astart({"text": name})))
            while not (self.gate.reached.is_set() and self.database.turns.waiting("s1") >= place):
                await asyncio.sleep(0)
        return tasks


def test_inputs_are_served_in_the_order_in_which_they_came(database: Database) -> None:
    """Each opens a run when the one before has ended; nobody is refused."""
    desk = Desk(database, queue=4)

    async def main() -> list[str]:
        tasks = await desk.come("0", "1", "2", "3", "4")
        desk.gate.open()
        return [outcome.status for outcome in await asyncio.gather(*tasks)]

    assert asyncio.run(main()) == ["completed"] * 5
    assert (desk.served, database.turns.waiting("s1")) == (["0", "1", "2", "3", "4"], 0)


def test_input_that_finds_the_queue_full_is_refused(database: Database) -> None:
    """At once, and those that wait keep their turns."""
    desk = Desk(database, queue=1)

    async def main() -> None:
        tasks = await desk.come("0", "1")
        with pytest.raises(SessionBusy, match="1 inputs wait"):
            await desk.session.astart({"text": "2"})
        desk.gate.open()
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert desk.served == ["0", "1"]


def test_turn_that_does_not_come_in_time_is_given_up(database: Database) -> None:
    """The next in line is not held up by it."""
    desk = Desk(database, queue=2, queue_wait_s=0.0)

    async def main() -> None:
        tasks = await desk.come("0")
        with pytest.raises(SessionBusy, match="has not come in time"):
            await desk.session.astart({"text": "1"})
        desk.gate.open()
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert database.turns.waiting("s1") == 0


def test_turn_of_a_cancelled_caller_is_given_up(database: Database) -> None:
    """Who went away waits no longer."""
    desk = Desk(database, queue=2)

    async def main() -> None:
        tasks = await desk.come("0", "1", "2")
        tasks[1].cancel()
        desk.gate.open()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
    assert (desk.served, database.turns.waiting("s1")) == (["0", "2"], 0)


def test_input_is_refused_at_once_without_a_queue(database: Database) -> None:
    """That is what happens unless somebody says otherwise."""
    desk = Desk(database)

    async def main() -> None:
        tasks = await desk.come("0")
        with pytest.raises(SessionBusy, match="is held"):
            await desk.session.astart({"text": "1"})
        desk.gate.open()
        await asyncio.gather(*tasks)

    asyncio.run(main())


def test_queue_of_less_than_none_is_refused(database: Database) -> None:
    """It is a number of inputs."""
    with pytest.raises(InputRefused, match="queue"):
        Desk(database, queue=-1)


@pytest.mark.parametrize("is_async", [True, False])
def test_provider_is_asked_while_the_run_waits(start: Any, database: Database, is_async: bool) -> None:
    """Until the run ends, or it has nothing more to say."""
    said: list[Any] = [{"event": "lock"}, {"event": "unlock"}, None]
    asked: list[str] = []

    def provide(outcome: Any) -> Any:
        asked.append(outcome.path)
        return said.pop(0)

    async def aprovide(outcome: Any) -> Any:
        return provide(outcome)

    session = sw.Session("s1", waiting().compile(), database, provider=aprovide if is_async else provide)
    assert (start(session).status, asked) == ("waiting", ["OPEN", "LOCKED", "OPEN"])
