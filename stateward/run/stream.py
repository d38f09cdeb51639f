"""Streaming a session: the parts of its calls are handed on as they come, and it ends as a call without a stream does.

What a session does around its calls, such as waiting for its turn or asking its provider, is written once, as a
generator of work (`drive.py`). A call that is streamed is a piece of work with parts: the drivers here hand them on,
and then send the generator where the session stands. A reader who leaves early ends the call: the generator is told,
does what must be done at its end, and the graph gives its lease back.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from contextlib import aclosing, closing
from dataclasses import dataclass
from typing import Any, cast

from stateward.run.drive import Bridge, Steps, Work, doing, drive_async, drive_sync
from stateward.run.threads import Threads


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts(Work):
    """Work whose parts are handed on to whoever reads the stream."""

    parts: Callable[..., Iterator[Any]]
    aparts: Callable[..., AsyncIterator[Any]]
    ended: Work
    """What is done after the last part; its result is that of the work."""


def stream_sync(steps: Steps[object]) -> Generator[Any]:
    """Run a generator of work, and hand on the parts of it that has some.

    Args:
        steps: The generator.

    Yields:
        LangGraph's parts.
    """
    bridge = Bridge()
    try:
        work = next(steps)
        while True:
            try:
                if isinstance(work, Parts):
                    with closing(cast("Generator[Any]", work.parts(*work.args))) as parts:
                        yield from parts
                done = drive_sync(doing(work.ended if isinstance(work, Parts) else work), bridge=bridge)
            except BaseException as error:  # noqa: BLE001  # thrown into the generator, which decides
                work = steps.throw(error)
            else:
                work = steps.send(done)
    except StopIteration:
        return
    finally:
        bridge.close()


async def stream_async(steps: Steps[object], *, threads: Threads) -> AsyncGenerator[Any]:
    """Run a generator of work, and hand on the parts of it that has some.

    Args:
        steps: The generator.
        threads: Where sync work runs.

    Yields:
        LangGraph's parts.
    """
    try:
        work = next(steps)
        while True:
            try:
                if isinstance(work, Parts):
                    async with aclosing(cast("AsyncGenerator[Any]", work.aparts(*work.args))) as parts:
                        async for part in parts:
                            yield part
                done = await drive_async(doing(work.ended if isinstance(work, Parts) else work), threads=threads)
            except BaseException as error:  # noqa: BLE001  # thrown into the generator, which decides
                work = steps.throw(error)
            else:
                work = steps.send(done)
    except StopIteration:
        return
