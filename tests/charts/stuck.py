"""Work that begins and does not end, until somebody stops it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import stateward as sw
from tests.charts.drive import Driven


class Stuck:
    """Activities and tools that begin and do not end; each says that it has begun and how it was stopped."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.stopped: list[str] = []

    async def __call__(self, state: Any) -> None:
        await self.wait("activity")

    async def wait(self, name: str) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.stopped.append(name)
            raise

    def tool(self, effect: Any) -> Any:
        @sw.tool(effect=effect, name="pay")
        async def pay() -> None:
            """Pay for ever."""
            await self.wait("tool")

        return pay


class Held:
    """Sync code that ends when it is released; it says that it has begun, and how often."""

    def __init__(self) -> None:
        self.begun, self.release, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.times = 0

    def wait(self) -> None:
        self.times += 1
        self.begun.set()
        self.release.wait()
        self.ended.set()

    def activity(self, state: Any) -> None:
        self.wait()

    async def calling(self, state: Any, run: sw.Run[Any]) -> None:
        await run.tool("pay")

    def calling_sync(self, state: Any, run: sw.SyncRun[Any]) -> None:
        run.tool("pay")

    def tool(self, effect: Any, *, timeout_s: float | None = None) -> Any:
        @sw.tool(effect=effect, name="pay", timeout_s=timeout_s)
        def pay() -> None:
            """Pay, which takes a while."""
            self.wait()

        return pay


def cancelled_while(driven: Driven, begun: threading.Event, given: Any = None) -> Any:
    """Run a session, cancel it when something has begun, and return what its caller gets."""
    with driven.running(given) as came:
        begun.wait()
        driven.cancel(reason="a typo", wait_s=60)
    return came[0]


async def pay(state: Any, run: sw.Run[Any]) -> None:
    await run.tool("pay")


def pay_sync(state: Any, run: sw.SyncRun[Any]) -> None:
    run.tool("pay")
