"""A place in the queue of a session, and who leaves while it is taken."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import stateward as sw
from stateward.run.store.database import Database
from stateward.run.store.turns import Place, Turns
from stateward.run.turn import InLine
from tests.charts.beside import Gate
from tests.charts.one import compiled


class Held(Turns):
    """Turns whose first place is taken, or looked at, only when the test lets it."""

    def __init__(self, database: Database, *, holds: str) -> None:
        turns = database.turns
        super().__init__(turns._connection, ttl_s=turns._ttl_s)  # pyright: ignore[reportPrivateUsage]
        self.holds = holds
        self.reached, self.go = threading.Event(), threading.Event()

    def hold(self, what: str) -> None:
        if what == self.holds:
            self.reached.set()
            assert self.go.wait(10)

    def take(self, session: str, *, limit: int) -> Place:
        self.hold("take")
        return super().take(session, limit=limit)

    def is_next(self, place: Place) -> bool:
        self.hold("is_next")
        return super().is_next(place)


@pytest.fixture
def line(database: Database) -> InLine:
    """Nobody yet."""
    return InLine(database.turns, "s1", limit=2)


@pytest.mark.parametrize("holds", ["take", "is_next"])
def test_who_goes_away_while_its_place_is_taken_or_kept_has_none(
    database: Database, monkeypatch: pytest.MonkeyPatch, holds: str
) -> None:
    """What the thread does afterwards leaves nobody in the queue."""
    turns, gate = Held(database, holds=holds), Gate()
    monkeypatch.setattr(database, "turns", turns)

    async def work(state: Any) -> None:
        await gate.wait()

    async def main() -> None:
        session = sw.Session("s1", compiled(work), database, queue=4)
        first = asyncio.create_task(session.astart({"text": "0"}))
        await asyncio.to_thread(gate.reached.wait)
        second = asyncio.create_task(session.astart({"text": "1"}))
        await asyncio.to_thread(turns.reached.wait)
        second.cancel()
        turns.go.set()
        assert isinstance((await asyncio.gather(second, return_exceptions=True))[0], asyncio.CancelledError)
        gate.open()
        await first

    asyncio.run(main())
    assert turns.waiting("s1") == 0


def test_who_has_left_takes_no_place(line: InLine, database: Database) -> None:
    """Its thread began late."""
    line.leave()
    line.take()
    assert (line.place, database.turns.waiting("s1")) == (None, 0)


def test_who_has_left_keeps_no_place(line: InLine, database: Database) -> None:
    """A look that comes late puts nothing back."""
    line.take()
    line.leave()
    assert (line.is_next(), database.turns.waiting("s1")) == (False, 0)
