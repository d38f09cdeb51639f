"""The run of the activity that code runs in, for code that is not handed one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from stateward.errors import RunError
from stateward.run.context import Core, Run
from stateward.run.deadline import own_exit
from stateward.run.door.calling import enter, inside, leave

T = TypeVar("T")

_CURRENT: ContextVar[Callable[[], Core[Any]] | None] = ContextVar("stateward_run", default=None)
"""What makes or returns the run of the activity: most activities never ask for it."""


def current_run() -> Run[Any]:
    """Return the run of the activity this code runs in, for code that is not handed one.

    Returns:
        The same object the activity gets as `run`.

    Raises:
        RunError: No activity is running here.
    """
    run = _CURRENT.get()
    if run is None:
        raise RunError("No activity is running here", fix="Call it from a state's `do` or from what that calls.")
    return cast("Run[Any]", run())


def within(run: Callable[[], Core[Any]], fn: Callable[..., T], *args: Any) -> T:
    """Call a sync function that sees a run through `current_run`.

    Args:
        run: Makes or returns the run.
        fn: The function.
        args: Its arguments.

    Raises:
        RunError: It raised `GeneratorExit`.
    """
    token, inner = _CURRENT.set(run), enter(lambda: run().calling)
    try:
        return fn(*args)
    except GeneratorExit as raised:
        raise own_exit() from raised
    finally:
        leave(inner)
        _CURRENT.reset(token)


def awithin(run: Core[Any], fn: Callable[..., Awaitable[T]]) -> Callable[..., Awaitable[T]]:
    """Make an async function see a run through `current_run`.

    Args:
        run: The run.
        fn: The function.
    """

    async def call(*args: Any) -> T:
        token = _CURRENT.set(lambda: run)
        try:
            with inside(lambda: run.calling):
                returned = await fn(*args)
        except asyncio.CancelledError:
            await run.rest(cancel=True)
            raise
        except BaseException:
            await run.rest()
            raise
        finally:
            _CURRENT.reset(token)
        await run.rest()
        return returned

    return call
