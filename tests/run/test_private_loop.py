"""An event loop in a thread of ours ends with everything on it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine
from concurrent.futures import Future
from typing import Any

import pytest

from stateward.run.private_loop import private_loop


def run(main: Coroutine[Any, Any, None]) -> None:
    with private_loop() as loop:
        loop.run_until_complete(main)


def test_tasks_that_were_left_are_cancelled() -> None:
    """Nothing of a call goes on after it."""
    left: list[asyncio.Task[Any]] = []

    async def main() -> None:
        left.append(asyncio.ensure_future(asyncio.Event().wait()))

    run(main())
    assert left[0].cancelled()


def test_generators_that_were_left_are_closed() -> None:
    """What they hold is given back on their own loop."""
    told: list[str] = []

    async def parts() -> AsyncGenerator[int]:
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            told.append("closed")

    made = parts()

    async def main() -> None:
        await anext(made)

    run(main())
    assert told == ["closed"]


def test_what_a_task_raises_at_the_end_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """As `asyncio.run` tells it: nobody awaits the task any more."""

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("at the end")

    left: list[asyncio.Task[None]] = []

    async def main() -> None:
        left.append(asyncio.ensure_future(stubborn()))
        await asyncio.sleep(0)

    run(main())
    assert "at the end" in caplog.text


def test_hung_thread_of_the_executor_is_not_waited_for() -> None:
    """The loop is closed although the thread goes on, and no thread is started for the end."""
    release, loops = Future[None](), list[asyncio.AbstractEventLoop]()

    async def main() -> None:
        loops.append(asyncio.get_running_loop())
        loops[0].run_in_executor(None, release.result)

    before = threading.active_count()
    run(main())
    assert loops[0].is_closed()
    assert threading.active_count() <= before + 1  # the one that hangs
    release.set_result(None)
