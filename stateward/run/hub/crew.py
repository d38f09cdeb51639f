"""The activities that run in tasks of their own, beside each other and from one visit of a node to the next.

A crew belongs to one call of a graph and lives on that call's event loop: what it does is called there, and only there.
A task is known by its state and activation, so that a state that was left and entered again is another one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable
from contextvars import Context
from dataclasses import dataclass
from typing import Any

from stateward.run.deadline import stop

Key = tuple[int, int]
"""A state and its activation."""


@dataclass(frozen=True, slots=True)
class Raised:
    """What an activity raised beside its events: a question to a person, or what ends the whole call.

    A `CancelledError` says that somebody else than the crew has cancelled its task.
    """

    error: BaseException


class Crew:
    """The running and finished activities of one call."""

    def __init__(self) -> None:
        self._tasks: dict[Key, asyncio.Future[object]] = {}
        self._fresh: list[Key] = []
        """Finished since somebody last looked."""
        self._finished: list[Key] = []
        """Finished and not taken yet, in the order in which they are taken."""
        self._waiter: asyncio.Future[None] | None = None
        self._woken = False

    def __contains__(self, key: Key) -> bool:
        """Whether an activity is running here, or has finished and was not taken yet.

        Args:
            key: State and activation.
        """
        return key in self._tasks

    def others(self, keys: Collection[Key]) -> list[Key]:
        """Return which activities there are beside some; from any thread, while the crew does nothing.

        Args:
            keys: The ones that are known.
        """
        return [key for key in self._tasks if key not in keys]

    def begin(self, key: Key, work: Callable[[], Coroutine[Any, Any, object]], *, context: Context) -> None:
        """Begin an activity.

        Args:
            key: State and activation.
            work: Makes the coroutine; what it raises becomes its result.
            context: The context variables it sees.
        """
        task = asyncio.get_running_loop().create_task(_kept(work), context=context)
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._note(key, done))

    async def put(self, key: Key, result: object) -> None:
        """Keep what an activity came to that did not run here, to be taken later.

        Args:
            key: State and activation.
            result: Its result.
        """
        self._tasks[key] = done = asyncio.get_running_loop().create_future()
        done.set_result(result)
        self._fresh.append(key)

    def _note(self, key: Key, task: asyncio.Future[object]) -> None:
        if self._tasks.get(key) is task:
            self._fresh.append(key)
            self.wake()

    def wake(self) -> None:
        """Let whoever waits look again."""
        self._woken = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def take(self) -> tuple[Key, object] | None:
        """Take out one activity that has finished.

        Returns:
            Its key and result; None when none has finished. Of those that finished since the last look, and so count as
            finished together, the first in document order comes first.
        """
        self._finished.extend(sorted(self._fresh))
        self._fresh.clear()
        if not self._finished:
            return None
        key = self._finished.pop(0)
        done = self._tasks.pop(key)
        return key, Raised(asyncio.CancelledError()) if done.cancelled() else done.result()

    async def wait(self, timeout_s: float | None) -> None:
        """Wait until an activity has finished or somebody wakes it.

        Args:
            timeout_s: Seconds at most; None for no limit.
        """
        if self._woken or self._fresh:
            self._woken = False
            return
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        timer = None if timeout_s is None else loop.call_later(timeout_s, self.wake)
        try:
            await self._waiter
        finally:
            self._waiter, self._woken = None, False
            if timer is not None:
                timer.cancel()

    async def stop(self, keys: Iterable[Key]) -> None:
        """Stop activities; what they came to is dropped.

        Args:
            keys: Which; one that swallows its cancellation is left behind after a short grace.
        """
        gone = {key: self._tasks.pop(key) for key in keys}
        self._fresh = [key for key in self._fresh if key not in gone]
        self._finished = [key for key in self._finished if key not in gone]
        await stop(*gone.values())

    async def end(self) -> None:
        """Stop all activities: the call is over."""
        await self.stop(list(self._tasks))


async def _kept(work: Callable[[], Coroutine[Any, Any, object]]) -> object:
    """Carry an exception as a value: one that is no `Exception` would bring down the loop."""
    try:
        return await work()
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001  # raised again where it is taken
        return Raised(error)
