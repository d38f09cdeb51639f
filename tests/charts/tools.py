"""Tools that write down what they did, so that a test can count effects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import stateward as sw
from stateward.run.door.tool import Tool


class Mute(Exception):
    """Cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


@dataclass
class Shop:
    """A world of effects: each is written down with its idempotency key."""

    effects: list[tuple[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    @property
    def lookup(self) -> Tool:
        """A pure tool."""

        @sw.tool(effect="pure")
        def lookup(order: str) -> dict[str, Any]:
            """Look an order up."""
            self.effects.append(("lookup", order))
            return {"order": order}

        return lookup

    @property
    def refund(self) -> Tool:
        """An idempotent async tool."""

        @sw.tool(effect="idempotent")
        async def refund(order: str, eur: float = 1.0, *, ctx: sw.ToolContext) -> dict[str, Any]:
            """Pay an order back."""
            self.effects.append(("refund", order))
            self.keys.append(ctx.idempotency_key)
            return {"refunded": order}

        return refund

    @property
    def mail(self) -> Tool:
        """A tool that must not run twice, and cannot be looked up."""

        @sw.tool(effect="once")
        def mail(to: str) -> str:
            """Send a mail."""
            self.effects.append(("mail", to))
            return "sent"

        return mail

    @property
    def broken(self) -> Tool:
        """A tool that fails."""

        @sw.tool(effect="idempotent")
        def broken(order: str) -> None:
            """Fail."""
            self.effects.append(("broken", order))
            raise ConnectionError("no route")

        return broken

    @property
    def box(self) -> tuple[Tool, ...]:
        """All of them."""
        return (self.lookup, self.refund, self.mail, self.broken)

    def done(self, name: str) -> list[Any]:
        """What a tool did."""
        return [what for tool, what in self.effects if tool == name]


def call(name: str, **args: Any) -> dict[str, Any]:
    """One call of a batch."""
    return {"name": name, "args": args}
