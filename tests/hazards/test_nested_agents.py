"""Hazards 8 and 22: what the top forbids or limits holds in agents called in tools, and at any concurrency."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from threading import Lock
from time import sleep
from typing import Any

import pytest
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]  # a saver of anything
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import BaseTool, tool

import stateward as sw
from stateward.govern.policy import Policy, Rule, ToolPolicy
from stateward.governor import Governor
from stateward.run.store.database import Database, open_database
from stateward.testing import How, ScriptedModel, calls
from tests.charts.agents import Talk, World, agent, observations, ruled
from tests.charts.drive import Driven
from tests.charts.one import compiled

Drive = Callable[..., Driven]
LOOSE = (None, Policy(name="open"), ruled("allowed"), ruled("allowed", wipe="allowed"))
"""What agents bring along: none of it says no."""


def reckless(chance: random.Random, names: Sequence[str]) -> ScriptedModel:
    """A model that calls whatever comes to its mind, and ends some time."""

    def reply(messages: Sequence[BaseMessage]) -> str | AIMessage:
        wanted = [(chance.choice(names), {"what": str(n)}) for n in range(chance.randint(0, 3))]
        return calls(*wanted) if wanted and len(messages) < 8 else "done"

    return ScriptedModel.of(*[reply] * 20)


def level(chance: random.Random, tools: Sequence[BaseTool], *, name: str) -> BaseTool:
    """A tool with an agent in it that has the other tools, the forbidden one too, and a policy that allows it."""
    # Built here and not in the tool: who compiles the chart does not look at it, so its policy is folded in the run.
    holder = {
        "agent": create_agent(
            reckless(chance, ["wipe", "WIPE", "wipe ", *(each.name for each in tools)]),
            list(tools),
            middleware=[Governor(chance.choice(LOOSE), name=name)],
        )
    }

    @tool(f"ask_{name}")
    async def ask(what: str) -> str:
        """Ask an agent."""
        told = await holder["agent"].ainvoke({"messages": [HumanMessage(what)]})
        return str(told["messages"][-1].text)

    return ask


BLOCKS = [pytest.param(block, marks=[pytest.mark.slow] if block else []) for block in range(8)]


@pytest.mark.parametrize("block", BLOCKS)
def test_forbidden_tool_is_never_called_at_any_depth(block: int) -> None:
    """Of 200 runs, three agents deep, with models that try it whenever they can: 0 calls."""
    refused = list[str]()
    for seed in range(block * 25, block * 25 + 25):
        chance, world = random.Random(seed), World()
        wipe, look = world.tool("wipe"), world.tool("look")
        deep = level(chance, [wipe, look], name="deep")
        middle = level(chance, [wipe, look, deep], name="middle")
        top = agent(model=reckless(chance, ["wipe", "look", "ask_middle"]), tools=[wipe, look, middle])
        with open_database("memory:") as database:
            graph = compiled(top, policy=ruled("allowed", wipe="forbidden")).attach(database)
            sw.Session("s", graph, database).start({"messages": [HumanMessage("go", id="h")]})
            refused += [str(row.record["path"]) for row in database.audit.rows() if row.record["event"] == "denied"]
        assert world.done("wipe") == []
    assert {path.count("/") for path in refused} == {1, 2, 3}


def test_unapproved_call_of_a_sub_agent_waits(drive: Drive) -> None:
    """A parent's approvals reach sub-agents called in tools."""
    world = World()
    pay = world.tool("pay")
    inner = agent(calls(*[("pay", {"what": str(n)}) for n in range(5)]), "done", tools=[pay], name="inner")

    @sw.tool()
    async def delegate(what: str) -> str:
        """Ask an agent."""
        return str((await inner.ainvoke({"messages": [HumanMessage(what)]}))["messages"][-1].text)

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"text": (await run.tool("delegate", what="x")).text}

    outcome = drive(compiled(act, box=[delegate], policy=ruled(pay="restricted"))).start({})
    assert (outcome.status, len(outcome.asks), world.effects) == ("waiting", 5, [])


def test_calls_at_once_are_capped_and_never_pass_the_budget(how: How, database: Database) -> None:
    """Of 792 calls of one reply 20 are made, at most 8 of them at the same time."""
    now, most, lock = [0], [0], Lock()

    @tool
    def touch(what: str) -> str:
        """Touch something."""
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        sleep(0)
        with lock:
            now[0] -= 1
        return what

    twenty = Policy(
        name="twenty", tools=ToolPolicy(default="allowed", rules=(Rule(match="touch", level="allowed", max_calls=20),))
    )
    reply = calls(*[("touch", {"what": str(n)}) for n in range(792)])
    talk = Talk(agent(reply, "done", tools=[touch], policy=twenty, database=database), how)
    values = talk.say()
    assert [status for status, _ in observations(values)].count("success") == 20
    assert len(observations(values)) == 792
    assert most[0] <= 8
