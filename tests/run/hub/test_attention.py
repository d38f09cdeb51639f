"""Attention: the first thing that happens, and no look outside for activities that end quickly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any

import pytest

from stateward.run.hub import attention as waiting
from stateward.run.hub.attention import LONGEST_S, Attention
from stateward.run.store.database import Database
from stateward.run.store.watch import POLL_S
from stateward.testing import ManualClock


@pytest.fixture
def session(database: Database) -> str:
    """A session that letters can be sent to."""
    database.leases.release(database.leases.acquire("s1"))
    return "s1"


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is long until somebody has to look outside, however slow the machine is."""
    monkeypatch.setattr(waiting, "POLL_S", 3600)
    monkeypatch.setattr(waiting, "LONGEST_S", 3600)


def attending(
    database: Database, main: Callable[[Attention, Callable[..., Any]], Coroutine[Any, Any, Any]], **given: Any
) -> Any:
    """Run with an attention and its `first`, and end it."""

    async def whole() -> Any:
        attention = Attention()

        def first(**other: Any) -> Any:
            known = {"mailbox": database.mailbox, "session": "s1", "due": None, "now": database.clock.now}
            return attention.first(**{**known, **given, **other})

        try:
            return await main(attention, first)
        finally:
            await attention.end()
            assert asyncio.all_tasks() == {asyncio.current_task()}

    return asyncio.run(whole())


async def word() -> str:
    return "said"


async def forever() -> None:
    await asyncio.Event().wait()


@pytest.mark.usefixtures("unhurried")
def test_activity_that_ends_is_the_first_thing(database: Database, session: str) -> None:
    """With its key and result; nothing was looked at."""

    async def main(attention: Attention, first: Any) -> Any:
        attention.looks()
        attention.crew.begin((1, 1), word, context=copy_context())
        return await first(), attention.is_used

    assert attending(database, main) == (((1, 1), "said"), False)


def test_letter_is_noticed_while_an_activity_runs(database: Database, session: str) -> None:
    """Whoever waits is told to look."""

    async def main(attention: Attention, first: Any) -> Any:
        attention.crew.begin((1, 1), forever, context=copy_context())
        await first()  # a watch tells once that it has begun
        asyncio.get_running_loop().call_later(POLL_S, database.mailbox.post, "s1", "go")
        while not database.mailbox.after("s1", 0):
            assert await first() is None
        return attention.is_used

    assert attending(database, main)


def test_timer_is_noticed_when_it_is_due(database: Database, clock: ManualClock) -> None:
    """With a mailbox or without one."""

    async def main(attention: Attention, first: Any) -> Any:
        attention.crew.begin((1, 1), forever, context=copy_context())
        clock.advance(60)
        return await first(due=clock.now()), await first(due=clock.now(), mailbox=None)

    assert attending(database, main) == (None, None)


def test_without_mailbox_and_timers_nothing_but_an_end_counts(database: Database) -> None:
    """There is nobody to look for."""

    async def main(attention: Attention, first: Any) -> Any:
        attention._looked -= LONGEST_S  # nobody has looked for long
        attention.crew.begin((1, 1), word, context=copy_context())
        return await first()

    assert attending(database, main, mailbox=None) == ((1, 1), "said")


@pytest.mark.usefixtures("unhurried")
def test_activities_that_end_one_after_the_other_do_not_keep_it_from_looking(database: Database, session: str) -> None:
    """Although one has ended, it is time to look."""

    async def main(attention: Attention, first: Any) -> Any:
        attention.crew.begin((1, 1), word, context=copy_context())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        attention._looked -= 3600
        return attention.overdue, await first(), attention.overdue, await first()

    assert attending(database, main) == (True, None, False, ((1, 1), "said"))
