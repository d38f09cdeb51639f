"""What else a policy says holds in a plain agent too: time, pace, money, several approvers; streams are governed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

import stateward as sw
from stateward.errors import DefinitionError, FuseTripped, GovernanceError
from stateward.govern.policy import Fuses, Pace, Policy, Rule, ToolPolicy
from stateward.governor import Governor
from stateward.run.door.role import ModelRole
from stateward.run.store.database import Database
from stateward.testing import How, ManualClock, ScriptedModel, calls
from tests.charts.agents import Talk, World, agent, observations, ruled


def talking(*replies: Any, how: How, database: Database, **rest: Any) -> Talk:
    return Talk(agent(*replies, database=database, checkpointer=InMemorySaver(), **rest), how)


def paying(**more: Any) -> Policy:
    return Policy(name="p", tools=ToolPolicy(default="allowed", rules=(Rule(match="pay", level="restricted", **more),)))


def test_call_that_takes_too_long_is_a_timeout(how: How, database: Database) -> None:
    """The agent goes on without it."""

    @sw.tool(effect="pure", timeout_s=0.05)
    async def wait(what: str) -> str:
        """Wait for ever."""
        await asyncio.Event().wait()
        return what

    talk = talking(calls(("wait", {"what": "x"})), "done", how=how, database=database, tools=[wait])
    values = talk.say()
    assert '"timeout"' in observations(values)[0][1]
    assert values["messages"][-1].text == "done"


def test_working_time_is_limited_and_a_persons_time_is_not_work(
    how: How, database: Database, clock: ManualClock
) -> None:
    """The clock runs on while a person thinks; only what the agent works counts."""

    @tool
    def work(what: str) -> str:
        """Take a minute."""
        clock.advance(60)
        return what

    policy = Policy(name="p", fuses=Fuses(runtime_s=100), tools=paying().tools)
    replies = [calls(("pay", {"what": "1"})), *[calls(("work", {"what": str(n)})) for n in range(4)]]
    talk = talking(*replies, how=how, database=database, tools=[work, World().tool("pay")], policy=policy)
    talk.say()
    clock.advance(10_000)
    with pytest.raises(FuseTripped, match="runtime_s"):
        talk.answer("approve")
    assert len([e for e in database.journal.entries("t") if e.name == "work"]) == 2


@pytest.mark.parametrize("most", [1, 3])
def test_calls_at_once_are_as_many_as_the_pace_says(database: Database, most: int) -> None:
    """Over all calls of one reply."""
    now, seen = [0], [0]

    @tool
    async def touch(what: str) -> str:
        """Touch."""
        now[0] += 1
        seen[0] = max(seen[0], now[0])
        await asyncio.sleep(0.005)
        now[0] -= 1
        return what

    policy = Policy(name="p", pace=Pace(parallel=most))
    talk = talking(
        calls(*[("touch", {"what": str(n)}) for n in range(6)]),
        "done",
        how="async",
        database=database,
        tools=[touch],
        policy=policy,
    )
    talk.say()
    assert seen[0] == most


def test_money_fuse_trips_before_the_call(how: How, database: Database) -> None:
    """A model has the price of its role, and what it could cost is reserved."""
    model = ScriptedModel.of("one")
    role = ModelRole(
        name="writer", model=model, usd_per_million_input=1.0, usd_per_million_output=1e6, max_output_tokens=100
    )
    policy = Policy(name="p", fuses=Fuses(usd=0.5))
    talk = talking(model=model, models={"writer": role}, how=how, database=database, policy=policy)
    with pytest.raises(FuseTripped, match=r"fuse\.usd"):
        talk.say()
    assert model.calls == ()


def test_model_without_a_price_is_refused_under_a_money_fuse(how: How, database: Database) -> None:
    """No unknown cost is counted as none."""
    talk = talking("one", how=how, database=database, policy=Policy(name="p", fuses=Fuses(usd=0.5)))
    with pytest.raises(FuseTripped):
        talk.say()


def test_two_people_must_approve(how: How, database: Database) -> None:
    """The second one says who it is; the first one's answer does not count twice."""
    world = World()
    talk = talking(
        calls(("pay", {"what": "1"})),
        "done",
        how=how,
        database=database,
        tools=[world.tool("pay")],
        policy=paying(approvals=2),
    )
    talk.say()
    assert "__interrupt__" in talk.answer("approve")
    talk.approver = "bob"
    assert "__interrupt__" in talk.send(None)
    assert world.effects == []
    assert talk.answer("approve", by="bob")["messages"][-1].text == "done"
    assert world.effects == [("pay", "1")]


def test_rejection_after_a_refused_approval_is_a_rejection(how: How, database: Database) -> None:
    """What a stranger said before does not stand in its place."""
    world = World()
    talk = talking(
        calls(("pay", {"what": "1"})),
        "done",
        how=how,
        database=database,
        tools=[world.tool("pay")],
        policy=paying(approvers=("bob",)),
    )
    talk.say()
    with pytest.raises(GovernanceError):
        talk.answer("approve")
    talk.approver = "bob"
    assert "rejected" in observations(talk.answer("reject", by="bob"))[0][1]
    assert world.effects == []


def test_edited_arguments_are_decided_again(how: How, database: Database) -> None:
    """A person may change what is called; what runs is what they said."""
    world = World()
    talk = talking(
        calls(("pay", {"what": "100"})), "done", how=how, database=database, tools=[world.tool("pay")], policy=paying()
    )
    talk.say()
    edited = {"edited_action": {"name": "pay", "args": {"what": "5"}}}
    values = talk.answer("edit", **edited)
    while "__interrupt__" in values:
        values = talk.answer("approve", by="ann")
    assert world.effects == [("pay", "5")]


def test_edit_to_a_call_without_arguments_is_taken(how: How, database: Database) -> None:
    """None are what it names, and not nothing."""

    @sw.tool(effect="pure")
    def count() -> int:
        """Count."""
        return 7

    replies = (calls(("pay", {"what": "1"})), "done")
    talk = talking(*replies, how=how, database=database, tools=[World().tool("pay"), count], policy=paying())
    talk.say()
    values = talk.answer("edit", edited_action={"name": "count", "args": {}})
    assert observations(values) == [("success", "7")]


def test_agent_in_a_tool_of_a_plain_agent_asks_by_its_interrupt(database: Database) -> None:
    """The question goes up through the tool, and the tool is entered again when it is answered."""
    world = World()
    inner = agent(
        calls(("look", {"what": "up"}), ("pay", {"what": "1"})),
        "paid",
        tools=[world.tool("look"), world.tool("pay")],
        name="inner",
    )

    @tool
    async def delegate(what: str) -> str:
        """Ask an agent."""
        return str((await inner.ainvoke({"messages": [HumanMessage(what)]}))["messages"][-1].text)

    talk = talking(
        calls(("delegate", {"what": "x"})),
        "done",
        how="async",
        database=database,
        tools=[delegate],
        policy=ruled(pay="restricted"),
    )
    (asked,) = talk.say()["__interrupt__"]
    assert asked.value["path"] == "/agent/inner"
    values = talk.answer("approve")
    assert observations(values) == [("success", "paid")]
    assert sorted(world.effects) == [("look", "up"), ("pay", "1")]


def test_streamed_reply_is_governed(database: Database) -> None:
    """Tokens come as they are, and the call is in the journal."""
    graph = agent("a word or two", database=database, policy=ruled())
    parts: Iterator[Any] = graph.stream(
        {"messages": [("user", "go")]}, {"configurable": {"thread_id": "t"}}, stream_mode="messages"
    )
    assert "".join(str(chunk.text) for chunk, _ in parts) == "a word or two"
    assert [entry.status for entry in database.journal.entries("t")] == ["completed"]


def test_timeout_of_an_activity_is_no_rule_of_an_agent() -> None:
    """No part of a policy is taken and does nothing."""
    with pytest.raises(DefinitionError, match=r"runtime_s"):
        Governor(Policy(name="p", activity_timeout_s=1.0))


def test_policy_must_be_one() -> None:
    """Its name alone is none."""
    with pytest.raises(DefinitionError, match="is no policy"):
        Governor("careful")  # pyright: ignore[reportArgumentType]  # what is refused


def test_databases_of_the_environment_are_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """As for a chart."""
    url = f"sqlite:///{tmp_path / 'here.db'}"
    monkeypatch.setenv("STATEWARD_DB", url)
    agent("done").invoke({"messages": [("user", "go")]}, {"configurable": {"thread_id": "t"}})
    with sw.open(url) as opened:
        assert len(opened.journal.entries("t")) == 1
