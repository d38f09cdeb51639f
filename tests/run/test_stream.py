"""The drivers of a stream: parts are handed on, results are sent back, and whoever leaves is told to the generator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from stateward.run.drive import Steps, Work
from stateward.run.stream import Parts, stream_async, stream_sync
from stateward.run.threads import Threads
from stateward.testing import How


def sync_parts(*numbers: int) -> Iterator[int]:
    yield from numbers


async def async_parts(*numbers: int) -> AsyncIterator[int]:
    for number in numbers:
        yield number


def some(*numbers: int) -> Parts:
    return Parts(parts=sync_parts, aparts=async_parts, args=numbers, ended=Work(fn=lambda: sum(numbers)))


def read(steps: Steps[Any], how: How, *, at_most: int = 99) -> list[Any]:
    """Read so many parts, then close."""

    async def whole() -> list[Any]:
        stream, found = stream_async(steps, threads=Threads()), list[Any]()
        async for part in stream:
            found.append(part)
            if len(found) == at_most:
                break
        await stream.aclose()
        return found

    if how == "async":
        return asyncio.run(whole())
    stream, found = stream_sync(steps), list[Any]()
    for part in stream:
        found.append(part)
        if len(found) == at_most:
            break
    stream.close()
    return found


def test_parts_are_handed_on_and_the_result_is_sent_back(how: How) -> None:
    """Other work has none, and runs in between."""
    sent: list[Any] = []

    def steps() -> Steps[None]:
        sent.append((yield some(1, 2)))
        sent.append((yield Work(fn=lambda: "x")))
        sent.append((yield some(3)))

    assert (read(steps(), how), sent) == ([1, 2, 3], [3, "x", 3])


def test_what_is_raised_is_thrown_into_the_generator(how: How) -> None:
    """Which decides: it may go on."""

    def steps() -> Steps[None]:
        with pytest.raises(ZeroDivisionError):
            yield Work(fn=lambda: 1 / 0)
        yield some(1)

    assert read(steps(), how) == [1]


def test_who_leaves_is_told_to_the_generator(how: How) -> None:
    """What must be done at its end is done, and nothing after it."""
    done: list[str] = []

    def steps() -> Steps[None]:
        try:
            yield some(1, 2, 3)
            done.append("went on")
        finally:
            yield Work(fn=lambda: done.append("tidied"), must_end=True)

    assert (read(steps(), how, at_most=2), done) == ([1, 2], ["tidied"])


def test_a_generator_without_work_streams_nothing(how: How) -> None:
    """It ends at once."""

    def steps() -> Steps[None]:
        if how == "never":  # pyright: ignore[reportUnnecessaryComparison]
            yield some(1)

    assert read(steps(), how) == []
