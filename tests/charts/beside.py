"""Regions side by side, and what makes their activities wait for each other: gates that any thread can open."""

from __future__ import annotations

import asyncio
import operator
import threading
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from typing_extensions import TypedDict

import stateward as sw
from stateward.govern.policy import Policy
from stateward.run.graph import ChartGraph


class Beside(TypedDict, total=False):
    """What regions leave behind."""

    log: Annotated[list[Any], operator.add]
    text: str
    number: int
    messages: sw.Messages


class Gate:
    """Activities stand before it until somebody opens it, from any thread and for any loop."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        """Somebody stands before it."""
        self._opened = threading.Event()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def wait(self) -> None:
        """Wait on the loop."""
        here = asyncio.Event()
        self._waiting.append((asyncio.get_running_loop(), here))
        self.reached.set()
        if not self._opened.is_set():
            await here.wait()

    def wait_sync(self) -> None:
        """Wait in this thread."""
        self.reached.set()
        self._opened.wait()

    def open(self) -> None:
        """Let everybody through."""
        self._opened.set()
        for loop, here in self._waiting:
            loop.call_soon_threadsafe(here.set)


def says(
    word: str, *, after: Gate | None = None, opens: Sequence[Gate] = (), then: Callable[[], Any] | None = None
) -> Any:
    """Make an async activity that passes a gate, does something, opens others, and logs a word."""

    async def say(state: Any) -> dict[str, Any]:
        if after is not None:
            await after.wait()
        if then is not None:
            then()
        for gate in opens:
            gate.open()
        return {"log": [word]}

    return say


def says_sync(
    word: str, *, after: Gate | None = None, opens: Sequence[Gate] = (), then: Callable[[], Any] | None = None
) -> Any:
    """The same, as a plain function."""

    def say(state: Any) -> dict[str, Any]:
        if after is not None:
            after.wait_sync()
        if then is not None:
            then()
        for gate in opens:
            gate.open()
        return {"log": [word]}

    return say


def beside(
    *regions: Sequence[Any],
    on: Sequence[Any] = (),
    more: Sequence[Any] = (),
    policy: Policy | None = None,
    to: Any = "DONE",
) -> sw.Chart[Beside]:
    """Build a chart of the regions A, B, …; each gets an end, and P is over when all have reached theirs."""
    names = "ABCDEFGH"
    inside = [sw.Superstate(names[n], *states, sw.Final("END")) for n, states in enumerate(regions)]
    return sw.Chart("beside", Beside, sw.Parallel("P", *inside, on=on, to=to, policy=policy), *more, sw.Final("DONE"))


def compiled_beside(*regions: Sequence[Any], box: Sequence[Any] = (), models: Any = None, **rest: Any) -> ChartGraph:
    """Build and compile it."""
    return beside(*regions, **rest).compile(tools=box, models=models)
