"""Sync code that goes on in threads after its call was given up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from threading import Event
from typing import Any

import pytest

from stateward.run.door.straggler import Stragglers, in_thread
from stateward.run.threads import Pool


def running(stragglers: Stragglers, *names: str) -> list[Future[Any]]:
    jobs = [Future[Any]() for _ in names]
    for job, name in zip(jobs, names, strict=True):
        stragglers.begun(job, name)
    return jobs


def test_last_one_that_ends_does_what_is_left() -> None:
    """And nobody before it."""
    stragglers, done = Stragglers(), list[str]()
    first, second = running(stragglers, "a", "b")
    assert (stragglers.outlast(lambda: done.append("over")), stragglers.names) == (True, ("a", "b"))
    second.set_result(None)
    assert (done, stragglers.names) == ([], ("a",))
    first.set_exception(ValueError())
    assert done == ["over"]


def test_where_nothing_runs_nothing_is_left() -> None:
    """Who asks does it himself."""
    stragglers, done = Stragglers(), list[str]()
    running(stragglers, "a")[0].set_result(None)
    assert not stragglers.outlast(lambda: done.append("over"))
    assert done == []


def test_what_was_answered_is_not_waited_for() -> None:
    """Its time is over, and the run went on without it."""
    stragglers = Stragglers()
    (job,) = running(stragglers, "a")
    stragglers.forget(job)
    assert not stragglers.outlast(lambda: None)


@pytest.fixture
def release() -> Iterator[Event]:
    """What hanging work waits for; it is let go at the end."""
    event = Event()
    yield event
    event.set()


async def cut(release: Event, stragglers: Stragglers, *, spared: bool) -> asyncio.Task[bool]:
    begun = Event()

    def work() -> bool:
        begun.set()
        return release.wait()

    pool = Pool("p", limit=1)
    task = asyncio.create_task(in_thread(work, pool=pool, stragglers=stragglers, what="a", spared=lambda: spared))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    await asyncio.sleep(0)
    return task


def test_cancelled_activity_is_left_to_its_thread(release: Event) -> None:
    """Its caller is let go."""

    async def main() -> tuple[bool, tuple[str, ...]]:
        stragglers = Stragglers()
        (done,), _ = await asyncio.wait([await cut(release, stragglers, spared=False)])
        return done.cancelled(), stragglers.names

    assert asyncio.run(main()) == (True, ("a",))


def test_spared_activity_comes_to_its_end(release: Event) -> None:
    """And what it returns counts."""

    async def main() -> bool:
        task = await cut(release, Stragglers(), spared=True)
        assert not task.done()
        release.set()
        return await task

    assert asyncio.run(main())


def test_activity_that_has_not_begun_never_begins(release: Event) -> None:
    """It waits for a thread behind another."""
    pool, stragglers, ran = Pool("p", limit=1), Stragglers(), list[str]()
    pool.submit(release.wait)

    async def main() -> bool:
        work = in_thread(lambda: ran.append("ran"), pool=pool, stragglers=stragglers, what="a", spared=lambda: True)
        task = asyncio.create_task(work)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert (asyncio.run(main()), stragglers.names, ran) == (True, (), [])


def test_activity_that_ended_as_it_was_cancelled_keeps_what_it_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop hears of both at once."""
    job = Future[str]()
    job.set_running_or_notify_cancel()
    pool = Pool("p", limit=1)
    monkeypatch.setattr(pool, "submit", lambda fn: job)

    async def main() -> str:
        work = in_thread(lambda: "", pool=pool, stragglers=Stragglers(), what="a", spared=lambda: True)
        task = asyncio.create_task(work)
        await asyncio.sleep(0)
        job.set_result("kept")
        asyncio.get_running_loop().call_soon(task.cancel)
        return await task

    assert asyncio.run(main()) == "kept"
