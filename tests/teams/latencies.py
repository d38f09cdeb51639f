"""A tool whose calls end in an order that is drawn for each session: latencies without a clock."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import stateward as sw
from stateward.run.door.tool import Tool


@dataclass
class Turns:
    """Calls wait for each other until all are there, and then end one after the other."""

    order: Sequence[str]
    """What the calls are about, in the order in which they end."""
    ended: list[str] = field(default_factory=list[str])
    _events: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])

    async def wait(self, what: str) -> None:
        """Wait until a call may end."""
        self._events[what] = asyncio.Event()
        if len(self._events) == len(self.order):
            self._events[self.order[0]].set()
        await self._events[what].wait()
        self.ended.append(what)
        for following in self.order[len(self.ended) : len(self.ended) + 1]:
            self._events[following].set()


@dataclass
class Latencies:
    """The turns of each session."""

    calls: Sequence[str]
    sessions: dict[str, Turns] = field(default_factory=dict[str, Turns])

    def of(self, session: str) -> Turns:
        """The turns of a session; its name is the seed."""
        if session not in self.sessions:
            order = list(self.calls)
            random.Random(session).shuffle(order)
            self.sessions[session] = Turns(order)
        return self.sessions[session]

    @property
    def tool(self) -> Tool:
        """The tool `look`, which ends when it is its turn."""

        @sw.tool(effect="pure", name="look")
        async def look(what: str, *, ctx: sw.ToolContext) -> str:
            """Look something up."""
            await self.of(ctx.session).wait(what)
            return f"saw {what}"

        return look
