"""What really happened: every tool of the red table writes its effects here, and nothing else counts as proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

import stateward as sw
from stateward.govern.kinds.arguments import ArgumentRule
from stateward.govern.policy import Fuses, Level, Policy, Rule, ToolPolicy
from stateward.run.door.tool import Effect, Tool


@dataclass
class World:
    """The effects, in the order in which they happened."""

    effects: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])

    def tool(self, name: str = "act", *, effect: Effect = "once", **rest: Any) -> Tool:
        """Make a tool that takes anything as `what`."""

        @sw.tool(name=name, effect=effect, **rest)
        async def act(what: Any = None) -> str:
            """Do something that cannot be taken back."""
            self.effects.append((name, what))
            return f"{name} done"

        return act

    def sync_tool(self, name: str = "act", *, effect: Effect = "once", **rest: Any) -> Tool:
        """Make the same as a sync tool, which runs in a thread."""

        @sw.tool(name=name, effect=effect, **rest)
        def act(what: Any = None) -> str:
            """Do something that cannot be taken back."""
            self.effects.append((name, what))
            return f"{name} done"

        return act

    def done(self, name: str = "act") -> list[Any]:
        """What a tool did."""
        return [what for tool, what in self.effects if tool == name]


def ruled(match: str = "act", level: Level = "allowed", *, default: Level = "allowed", **rest: Any) -> Policy:
    """A policy with one rule."""
    argument = rest.pop("argument", None)
    arguments = () if argument is None else (ArgumentRule(name=rest.pop("named", "what"), **argument),)
    rule = Rule(match=match, level=level, arguments=arguments, **rest)
    return Policy(name="red", tools=ToolPolicy(default=default, rules=(rule,)))


def fused(**fuses: Any) -> Policy:
    """A policy with fuses."""
    return Policy(name="red", fuses=Fuses(**fuses))


def calling(*calls: Mapping[str, Any]) -> Callable[..., Any]:
    """An activity that makes a batch of calls and writes down what became of them."""

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [result.status for result in await run.tools([dict(call) for call in calls])]}

    return do


def acting(*values: Any, name: str = "act") -> Callable[..., Any]:
    """An activity that calls one tool with each of some values."""
    return calling(*({"name": name, "args": {"what": value}} for value in values))


def ids(table: Mapping[str, Any]) -> Sequence[Any]:
    """The rows of a table of attempts, each under its name, for `parametrize`."""
    return [pytest.param(row, id=name) for name, row in table.items()]
