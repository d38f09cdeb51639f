"""The calls of an activity that are being made now, so that none outlives the activity."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from contextvars import ContextVar
from typing import Any, TypeVar

from stateward.errors import RunError
from stateward.run.deadline import is_cancelled, stop

T = TypeVar("T")

_MADE: ContextVar[InFlight | None] = ContextVar("stateward_call", default=None)
"""Whose call the code runs in."""


class InFlight:
    """The tasks that are inside a call.

    An author may gather calls; when one of them asks a person, the activity ends while its siblings still run.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    def call(self) -> _Counted:
        """Keep the present task in mind until its call has ended.

        Raises:
            RunError: The activity is over.
        """
        self.check()
        return _Counted(self._tasks)

    def check(self) -> None:
        """Refuse a call that comes after the end.

        Raises:
            RunError: The activity is over: what calls was left behind by its end, its limit in time or a cancelled run.
        """
        if self._closed:
            raise RunError(
                "The activity is over: it has ended, it took too long, or its run was cancelled",
                fix="Make all calls before the activity returns, and let it end when it is cancelled.",
            )

    def inside(self) -> _Inside:
        """Mark what runs here, in tasks and threads too, as the inside of a call."""
        return _Inside(self)

    def check_outside(self) -> None:
        """Refuse a call that a tool makes.

        The journal answers for a tool when its activity is entered again: the tool does not run, so that its own calls
        would be missing and every later one would have another number.

        Raises:
            RunError: The caller runs inside a call of the same activity.
        """
        if _MADE.get() is self:
            raise RunError(
                "A tool makes no calls of its own through the door",
                fix="Make them in the activity, and pass the tool what it needs.",
            )

    def close(self) -> None:
        """Let no further call begin."""
        self._closed = True

    async def rest(self, *, cancel: bool = False) -> None:
        """Wait for the calls of other tasks.

        Args:
            cancel: Whether to end them at once, because the activity itself was cancelled; one that does not stop is
                left behind.
        """
        others = self._tasks - {asyncio.current_task()}
        if cancel:
            await stop(*others)
        elif others:
            await asyncio.wait(others)


class _Counted:  # a class, as `_Inside`: every call comes through both, and a generator costs several times as much
    """Counts the present task among those that are inside a call."""

    __slots__ = ("_task", "_tasks")

    def __init__(self, tasks: set[asyncio.Task[Any]]) -> None:
        self._tasks = tasks

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        if self._task is not None:
            self._tasks.add(self._task)

    def __exit__(self, *raised: object) -> None:
        if self._task is not None:
            self._tasks.discard(self._task)


class _Inside:
    """Marks what runs in the block as the inside of a call."""

    __slots__ = ("_in_flight", "_token")

    def __init__(self, in_flight: InFlight) -> None:
        self._in_flight = in_flight

    def __enter__(self) -> None:
        self._token = _MADE.set(self._in_flight)

    def __exit__(self, *raised: object) -> None:
        _MADE.reset(self._token)


async def together(calls: Iterable[Awaitable[T]]) -> list[T | BaseException]:
    """Make calls at the same time, and return what they raise as a value.

    Args:
        calls: The calls. One that raises `SystemExit` in a task of its own would bring down the loop.

    Returns:
        Results and exceptions, in call order.
    """
    made = tuple(calls)
    if len(made) == 1:  # it runs beside nothing, so it needs no task of its own
        return [await _kept(made[0])]
    return await asyncio.gather(*map(_kept, made))


async def _kept(call: Awaitable[T]) -> T | BaseException:
    try:
        return await call
    except BaseException as error:
        # Cancelled, or closed; what the call itself raises of either kind has become another error before.
        if isinstance(error, GeneratorExit) or (isinstance(error, asyncio.CancelledError) and is_cancelled()):
            raise
        return error
