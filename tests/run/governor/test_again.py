"""Agents in charts that are entered again: after a crash, in a replay, and beside each other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool

import stateward as sw
from stateward.govern.policy import Fuses, Policy
from stateward.replay import replay
from stateward.testing import ScriptedModel, calls
from tests.charts.agents import World, agent, ruled
from tests.charts.drive import Driven
from tests.charts.one import compiled

Drive = Callable[..., Driven]


class Killed(BaseException):
    """As if the process had ended."""


def given() -> dict[str, Any]:
    return {"messages": [HumanMessage("go", id="h")]}


def test_agent_that_a_crash_cut_off_pays_nothing_twice(drive: Drive) -> None:
    """The activity is entered again; what its agent did comes from the journal."""
    world, killed = World(), [Killed()]

    @tool
    def crash(what: str) -> str:
        """Crash once."""
        if killed:
            raise killed.pop()
        return "crashed before"

    model = ScriptedModel.of(calls(("pay", {"what": "1"})), calls(("crash", {"what": "x"})), "done")
    inner = agent(model=model, tools=[world.tool("pay"), crash], effects={"crash": "pure"})
    driven = drive(compiled(inner, policy=ruled()))
    with pytest.raises(Killed):
        driven.start(given())
    assert driven.resume().status == "completed"
    assert (world.effects, len(model.calls)) == ([("pay", "1")], 3)


def test_agents_at_once_keep_their_calls_apart(drive: Drive) -> None:
    """Two runs of one agent in one activity have names of their own, and the same ones when it is entered again."""
    world = World()

    def reply(messages: Any) -> Any:
        what = str(messages[-1].text)
        return calls(("pay", {"what": what})) if messages[-1].type == "human" else f"{what}!"

    inner = agent(*[reply] * 8, tools=[world.tool("pay")], name="inner")

    async def both(state: Any, run: sw.Run[Any]) -> Any:
        asked = [inner.ainvoke({"messages": [HumanMessage(what)]}) for what in "ab"]
        return {"log": [str(each["messages"][-1].text) for each in await asyncio.gather(*asked)]}

    driven = drive(compiled(both, policy=ruled(pay="restricted")))
    asks = driven.start({}).asks
    outcome = driven.answer(asks[0]) if len(asks) == 1 else None
    while outcome is None or outcome.status == "waiting":
        for ask in asks if outcome is None else outcome.asks:
            outcome = driven.answer(ask) if driven.session.database.asks.get(ask).status == "open" else outcome
    assert outcome.values["log"] == ["pay a!", "pay b!"]
    assert sorted(world.done("pay")) == ["a", "b"]


def test_replay_of_a_chart_plays_its_agents(drive: Drive) -> None:
    """Nothing is called: what agents said and did is in the record."""
    world = World()
    model = ScriptedModel.of(calls(("look", {"what": "up"}), ("wipe", {"what": "x"})), "done")
    inner = agent(model=model, tools=[world.tool("look"), world.tool("wipe")])
    driven = drive(compiled(inner, policy=ruled(wipe="forbidden")))
    driven.start(given())
    (played,) = replay(driven.session)
    assert played.same, played.divergence
    assert (world.effects, len(model.calls)) == ([("look", "up")], 2)


def test_replay_of_a_chart_plays_the_fuse_that_stopped_its_agents(drive: Drive) -> None:
    """The log keeps an agent's activation as a number beyond those of JSON."""
    inner = agent(calls(("look", {"what": "up"})), tools=[World().tool("look")], name="searcher")
    driven = drive(compiled(inner, policy=Policy(name="once", fuses=Fuses(turns=1))))
    assert driven.start(given()).status == "halted"
    (played,) = replay(driven.session)
    assert played.same, str(played.divergence)


def test_replay_of_a_chart_plays_what_its_agents_asked(drive: Drive) -> None:
    """The questions are put again, and answered as they were."""
    world = World()
    replies = calls(("look", {"what": "up"}), ("pay", {"what": "1"}))
    inner = agent(replies, "done", tools=[world.tool("look"), world.tool("pay")])
    driven = drive(compiled(inner, policy=ruled(pay="restricted")))
    driven.answer(driven.start(given()).asks[0])
    (played,) = replay(driven.session)
    assert played.same, played.divergence


def test_replay_of_a_chart_plays_what_an_agent_in_a_tool_asked(drive: Drive) -> None:
    """The tool is not called; that it waited is in the record."""
    world = World()
    inner = agent(calls(("pay", {"what": "1"})), "paid", tools=[world.tool("pay")])

    @sw.tool()
    async def delegate(task: str) -> str:
        """Let an agent do it."""
        return str((await inner.ainvoke({"messages": [HumanMessage(task)]}))["messages"][-1].text)

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"text": (await run.tool("delegate", task="x")).text}

    driven = drive(compiled(act, box=[delegate], policy=ruled(pay="restricted")))
    driven.answer(driven.start({}).asks[0])
    (played,) = replay(driven.session)
    assert played.same, played.divergence
    assert world.effects == [("pay", "1")]
