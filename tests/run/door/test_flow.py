"""Items that are made elsewhere come as they are made, and nobody waits for them longer than is allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextvars import ContextVar
from threading import Event, current_thread

import pytest

from stateward.run.door.flow import Flow, within_time
from stateward.run.threads import Pool

VARIABLE: ContextVar[str] = ContextVar("variable")
LIMITS = pytest.mark.parametrize("timeout_s", [None, 30.0])


@pytest.fixture
def pool() -> Pool:
    """A pool of the test's own."""
    return Pool("test", limit=2)


@pytest.fixture
def later() -> Iterator[Event]:
    """What somebody waits for; it comes when the test is over at the latest."""
    event = Event()
    yield event
    event.set()


@LIMITS
def test_items_come_as_they_are_made(pool: Pool, later: Event, timeout_s: float | None) -> None:
    """The second is made when the first was seen."""

    def work() -> Iterator[object]:
        yield "first"
        yield later.wait(60)

    items = within_time(pool, work, timeout_s=timeout_s)
    assert next(items) == "first"
    later.set()
    assert list(items) == [True]


@LIMITS
def test_what_blocking_work_raises_is_raised_after_its_items(pool: Pool, timeout_s: float | None) -> None:
    """Whatever it is: a signal is no `Exception`."""

    def work() -> Iterator[int]:
        yield 1
        raise KeyboardInterrupt

    items = within_time(pool, work, timeout_s=timeout_s)
    assert next(items) == 1
    with pytest.raises(KeyboardInterrupt):
        next(items)


def test_late_work_is_not_waited_for(pool: Pool, later: Event, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came before the limit was seen."""
    now = [0.0]
    monkeypatch.setattr("stateward.run.door.flow.monotonic", lambda: now[0])

    def work() -> Iterator[object]:
        yield "first"
        yield later.wait(60)

    items = within_time(pool, work, timeout_s=30)
    assert next(items) == "first"
    now[0] = 31.0
    with pytest.raises(TimeoutError):
        next(items)
    assert not later.is_set()


def test_work_that_nobody_reads_ends_at_its_next_item(pool: Pool, later: Event) -> None:
    """And closes what it has open, in its thread."""
    ended = Event()
    threads: list[object] = []

    def work() -> Iterator[object]:
        try:
            threads.append(current_thread())
            yield "first"
            yield later.wait(60)
            yield "never"
        finally:
            ended.set()

    items = within_time(pool, work, timeout_s=30)
    next(items)
    items.close()
    later.set()
    assert ended.wait(60)
    assert threads != [current_thread()]


@LIMITS
def test_work_sees_the_context_of_its_caller(pool: Pool, timeout_s: float | None) -> None:
    """Callbacks of LangChain are found through it."""
    token = VARIABLE.set("seen")
    assert list(within_time(pool, lambda: [VARIABLE.get()], timeout_s=timeout_s)) == ["seen"]
    VARIABLE.reset(token)


# -- awaited ------------------------------------------------------------------------------------------------


def test_task_does_not_wait_for_its_reader() -> None:
    """All is made when the reader has seen the first."""

    async def scene() -> tuple[int, list[int]]:
        flow, made = Flow[int](), list[int]()

        async def work() -> None:
            for n in range(3):
                made.append(n)
                flow.put(n)

        items = flow.read(work())
        first = await anext(items)
        return first, [*made, *[n async for n in items]]

    assert asyncio.run(scene()) == (0, [0, 1, 2, 1, 2])


def test_what_a_task_raises_is_raised_after_its_items() -> None:
    """The reader loses nothing."""

    async def scene() -> list[int]:
        flow, seen = Flow[int](), list[int]()

        async def work() -> None:
            flow.put(1)
            raise ValueError("broken")

        items = flow.read(work())
        seen.append(await anext(items))
        with pytest.raises(ValueError, match="broken"):
            await anext(items)
        return seen

    assert asyncio.run(scene()) == [1]


def test_what_the_reader_took_is_counted() -> None:
    """What was made beyond it was heard by nobody."""

    async def scene() -> int:
        flow = Flow[int]()

        async def work() -> None:
            flow.put(1)
            flow.put(2)

        items = flow.read(work())
        await anext(items)
        await items.aclose()
        return flow.seen

    assert asyncio.run(scene()) == 1


@pytest.mark.parametrize("leaves", [True, False])
def test_task_is_told_why_it_is_cancelled(leaves: bool) -> None:
    """A reader that leaves abandons the flow; one that is cancelled does not."""

    async def scene() -> list[bool]:
        flow, told, begun = Flow[int](), list[bool](), asyncio.Event()

        async def work() -> None:
            flow.put(1)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                told.append(flow.abandoned)
                raise

        async def reader() -> None:
            items = flow.read(work())
            await anext(items)
            begun.set()
            await (items.aclose() if leaves else anext(items))

        reading = asyncio.create_task(reader())
        await begun.wait()
        if not leaves:
            reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        return told

    assert asyncio.run(scene()) == [leaves]


def test_task_that_writes_its_end_down_is_waited_for() -> None:
    """A reader that leaves then does not cut it off."""

    async def scene() -> list[str]:
        flow, written, go = Flow[int](), list[str](), asyncio.Event()

        async def work() -> None:
            flow.put(1)
            flow.done = True
            await go.wait()
            written.append("end")

        items = flow.read(work())
        await anext(items)
        asyncio.get_running_loop().call_soon(go.set)
        await items.aclose()
        return written

    assert asyncio.run(scene()) == ["end"]
