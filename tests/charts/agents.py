"""Agents of LangChain under a governor, with a scripted model and tools that write down what they did."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]  # a saver of anything
from langchain_core.tools import BaseTool, tool
from langgraph.types import Command

from stateward.govern.policy import Policy, Rule, ToolPolicy
from stateward.governor import Governor
from stateward.run.door.tool import Tool
from stateward.testing import How, ScriptedModel


@dataclass
class World:
    """What LangChain's tools did."""

    effects: list[tuple[str, str]] = field(default_factory=list)

    def tool(self, name: str, *, raises: BaseException | None = None) -> BaseTool:
        """A tool of LangChain with both forms that takes one text."""

        @tool(name)
        def made(what: str) -> str:
            """Do something."""
            self.effects.append((name, what))
            if raises is not None:
                raise raises
            return f"{name} {what}"

        return made

    def done(self, name: str) -> list[str]:
        """What one of the tools was called with."""
        return [what for effect, what in self.effects if effect == name]


def agent(*replies: Any, tools: Any = (), policy: Policy | None = None, middleware: Any = (), **rest: Any) -> Any:
    """A governed agent whose model gives some replies."""
    names = ("name", "database", "models", "role", "effects")
    own = {name: rest.pop(name) for name in names if name in rest}
    foreign = [each for each in tools if isinstance(each, BaseTool)]
    governor = Governor(policy, tools=[each for each in tools if isinstance(each, Tool)], **own)
    model = rest.pop("model", None) or ScriptedModel.of(*replies)
    return create_agent(model, foreign, middleware=[*middleware, governor], **rest)


def ruled(default: Any = "allowed", **levels: Any) -> Policy:
    """A policy that gives some tools levels."""
    rules = tuple(Rule(match=name, level=level) for name, level in levels.items())
    return Policy(name="ruled", tools=ToolPolicy(default=default, rules=rules))


@dataclass
class Talk:
    """A thread of a plain agent, driven one of the two ways."""

    graph: Any
    how: How
    thread: str = "t"
    approver: str = "ann"

    def say(self, text: str = "go") -> dict[str, Any]:
        """Give the agent an input."""
        return self.send({"messages": [("user", text)]})

    def answer(self, *kinds: str, **more: Any) -> dict[str, Any]:
        """Answer what it asks, in order, in LangChain's form."""
        waiting = self.graph.get_state(self.config).interrupts
        given = {asked.id: {"decisions": [{"type": kind, **more}]} for asked, kind in zip(waiting, kinds, strict=True)}
        return self.send(Command(resume=given))

    def send(self, given: Any) -> dict[str, Any]:
        """Send anything LangGraph takes."""
        if self.how == "sync":
            return self.graph.invoke(given, self.config)
        return asyncio.run(self.graph.ainvoke(given, self.config))

    @property
    def config(self) -> Any:
        """The config of the thread."""
        return {"configurable": {"thread_id": self.thread, "approver": self.approver}}


def observations(values: dict[str, Any]) -> list[tuple[str, str]]:
    """The status and text of every tool message."""
    return [(each.status, str(each.text)) for each in values["messages"] if each.type == "tool"]


Made = Callable[..., Any]
