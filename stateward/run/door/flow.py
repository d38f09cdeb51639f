"""What a model says on its way to the activity: made elsewhere, so that nobody waits for it longer than is allowed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event
from time import monotonic
from typing import Any, Generic, TypeVar

from stateward.run.threads import Pool

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _End:
    """The last thing that comes."""

    error: BaseException | None = None


def within_time(pool: Pool, work: Callable[[], Iterable[T]], *, timeout_s: float | None) -> Generator[T]:
    """Yield what blocking work yields, as it comes, for so long and no longer.

    Under a limit the work is done in a thread. A thread cannot be killed: one that is late goes on until its next item,
    which nobody sees.

    Args:
        pool: Where the thread comes from; waiting for a free one counts.
        work: Makes the items; it sees the caller's context variables.
        timeout_s: Seconds for the whole of it, > 0; None for no limit.

    Yields:
        The items.

    Raises:
        TimeoutError: The work took longer.
    """
    if timeout_s is None:
        yield from work()
        return
    until = monotonic() + timeout_s
    came: SimpleQueue[T | _End] = SimpleQueue()
    left = Event()
    job = pool.submit(_pump, work, came, left)
    try:
        while not isinstance(item := _next(came, until=until), _End):
            yield item
    finally:
        left.set()
        job.cancel()
    if item.error is not None:
        raise item.error


def _pump(work: Callable[[], Iterable[T]], came: SimpleQueue[T | _End], left: Event) -> None:
    try:
        for item in work():
            came.put(item)
            if left.is_set():
                return
    except BaseException as error:  # noqa: BLE001  # raised again by the reader
        came.put(_End(error))
    else:
        came.put(_End())


def _next(came: SimpleQueue[T | _End], *, until: float) -> T | _End:
    try:
        return came.get(timeout=max(0.0, until - monotonic()))
    except Empty:
        raise TimeoutError from None


class Flow(Generic[T]):
    """Items that a task of its own makes, for one reader.

    The task does not wait for the reader, so its time is the model's and not the activity's; and it is the task, which
    an activity waits for before it ends, that settles the call, not a generator which somebody may have dropped.
    """

    def __init__(self) -> None:
        self.abandoned = False
        """Whether the reader left before the end."""
        self.seen = 0
        """How many items the reader took."""
        self.done = False
        """Whether the last item has come; the task may still have to write it down."""
        self._came: asyncio.Queue[T | _End] = asyncio.Queue()

    def put(self, item: T) -> None:
        """Hand an item to the reader.

        Args:
            item: What came.
        """
        self._came.put_nowait(item)

    async def read(self, work: Coroutine[Any, Any, None]) -> AsyncGenerator[T]:
        """Start the task and yield what it puts; a reader who leaves, or is cancelled, cancels it.

        Args:
            work: What puts the items. What it raises is raised here, after the items.

        Yields:
            The items.
        """
        task = asyncio.create_task(work)
        task.add_done_callback(lambda _: self._came.put_nowait(_End()))
        try:
            while not isinstance(item := await self._came.get(), _End):
                self.seen += 1
                yield item
            await task
        except GeneratorExit:
            self.abandoned = True
            raise
        finally:
            if not self.done:
                task.cancel()
            await asyncio.wait({task})
            _ = task.cancelled() or task.exception()  # looked at, so that asyncio does not report it as forgotten
