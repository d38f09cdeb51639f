"""Governed agents inside charts: they draw on the run around them and can only be tighter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.graph import MessagesState

import stateward as sw
from stateward.errors import PolicyLoosened
from stateward.govern.policy import Fuses, Policy
from stateward.testing import ManualClock, calls
from tests.charts.agents import World, agent, ruled
from tests.charts.drive import Driven
from tests.charts.one import compiled

Drive = Callable[..., Driven]


def given() -> dict[str, Any]:
    return {"messages": [HumanMessage("go", id="h")]}


def test_agent_as_an_activity_is_bound_by_the_states_policy(drive: Drive) -> None:
    """A tool that the chart forbids is not called by the agent either."""
    world = World()
    inner = agent(
        calls(("wipe", {"what": "all"}), ("look", {"what": "up"})),
        "done",
        tools=[world.tool("wipe"), world.tool("look")],
    )
    outcome = drive(compiled(inner, policy=ruled(wipe="forbidden"))).start(given())
    assert outcome.status == "completed"
    assert world.effects == [("look", "up")]
    assert [each.type for each in outcome.values["messages"]] == ["human", "ai", "tool", "tool", "ai"]


def test_calls_of_an_agent_are_journaled_under_its_path(drive: Drive) -> None:
    """Revocations of a state or of an agent find them there."""
    world = World()
    inner = agent(calls(("look", {"what": "up"})), "done", tools=[world.tool("look")], name="searcher")
    driven = drive(compiled(inner, policy=ruled()))
    driven.start(given())
    entries = driven.session.database.journal.entries("s1")
    assert {entry.key.path for entry in entries} == {"WORK.ACT/searcher"}
    assert [(entry.name, entry.key.call) for entry in entries] == [("model", 1), ("look", 2), ("model", 1)]


def test_turns_of_an_agent_count_in_the_chart(drive: Drive) -> None:
    """An agent never gets a fresh allowance."""
    world = World()
    inner = agent(*[calls(("look", {"what": str(n)})) for n in range(9)], tools=[world.tool("look")])
    outcome = drive(compiled(inner, policy=Policy(name="p", fuses=Fuses(turns=3)))).start(given())
    assert (outcome.status, (outcome.reason or {}).get("event")) == ("halted", "fuse.turns")
    assert world.done("look") == ["0", "1", "2"]


def test_approvals_reach_an_agent_in_a_chart(drive: Drive) -> None:
    """The chart waits with all questions of one reply; answered, what was made before is not made again."""
    world = World()
    replies = calls(("look", {"what": "up"}), ("pay", {"what": "1"}), ("pay", {"what": "2"}))
    inner = agent(replies, "done", tools=[world.tool("look"), world.tool("pay")])
    driven = drive(compiled(inner, policy=ruled(pay="restricted")))
    asks = driven.start(given()).asks
    assert len(asks) == 2
    driven.session.claim(asks[0], "approve", by="ann")
    outcome = driven.answer(asks[1], "reject")
    assert outcome.status == "completed"
    assert sorted(world.effects) == [("look", "up"), ("pay", "1")]


async def calls_an_agent(state: Any, run: sw.Run[Any]) -> Any:
    result = await run.tool("delegate", task="x")
    return {"log": [result.status, result.value]}


def delegating(inner: Any, *, is_async: bool = True, effect: Any = "once") -> Any:
    @sw.tool(effect=effect)
    async def delegate(task: str) -> str:
        """Let an agent do it."""
        told = await inner.ainvoke({"messages": [HumanMessage(task)]})
        return str(told["messages"][-1].text)

    @sw.tool(effect=effect, name="delegate")
    def delegate_sync(task: str) -> str:
        """Let an agent do it."""
        return str(inner.invoke({"messages": [HumanMessage(task)]})["messages"][-1].text)

    return delegate if is_async else delegate_sync


@pytest.mark.parametrize("is_async", [True, False])
def test_agent_in_a_tool_asks_through_the_chart(drive: Drive, is_async: bool) -> None:
    """The tool is entered again when the person has answered, and what its agent did is not done again."""
    world = World()
    replies = calls(("look", {"what": "up"}), ("pay", {"what": "1"}))
    inner = agent(replies, "paid", tools=[world.tool("look"), world.tool("pay")])
    driven = drive(compiled(calls_an_agent, box=[delegating(inner, is_async=is_async)], policy=ruled(pay="restricted")))
    outcome = driven.start({})
    (ask,) = outcome.asks
    assert driven.answer(ask).values["log"] == ["ok", "paid"]
    assert sorted(world.effects) == [("look", "up"), ("pay", "1")]


def test_agent_in_a_tool_in_an_agent_asks_through_the_chart(drive: Drive) -> None:
    """A question goes up through every level."""
    world = World()
    deep = agent(calls(("pay", {"what": "1"})), "paid", tools=[world.tool("pay")], name="deep")
    inner = agent(calls(("delegate", {"task": "x"})), "told", tools=[delegating(deep)], name="inner")
    driven = drive(compiled(inner, policy=ruled(pay="restricted")))
    (ask,) = driven.start(given()).asks
    assert driven.session.database.asks.get(ask).path == "WORK.ACT/inner/deep"
    assert driven.answer(ask).status == "completed"
    assert world.effects == [("pay", "1")]


def test_fuse_of_the_top_stops_a_member_in_the_middle(drive: Drive) -> None:
    """What is counted anywhere inside is counted at the top, and ends it there."""
    world = World()
    deep = agent(*[calls(("look", {"what": str(n)})) for n in range(9)], tools=[world.tool("look")], name="deep")
    driven = drive(compiled(calls_an_agent, box=[delegating(deep)], policy=Policy(name="p", fuses=Fuses(calls=4))))
    outcome = driven.start({})
    assert (outcome.status, (outcome.reason or {}).get("event")) == ("halted", "fuse.calls")
    assert world.done("look") == ["0", "1", "2"]


def test_agents_own_limit_holds_besides(drive: Drive) -> None:
    """A tighter policy of the agent's own ends it earlier."""
    world = World()
    own = Policy(name="own", fuses=Fuses(turns=2))
    inner = agent(*[calls(("look", {"what": str(n)})) for n in range(9)], tools=[world.tool("look")], policy=own)
    drive(compiled(inner, policy=Policy(name="p", fuses=Fuses(turns=5)))).start(given())
    assert world.done("look") == ["0", "1"]


def test_looser_agent_is_refused_when_the_chart_is_compiled() -> None:
    """The message names both places."""
    inner = agent("done", tools=[World().tool("wipe")], policy=ruled(wipe="allowed"))
    with pytest.raises(PolicyLoosened, match=r"WORK\.ACT/agent"):
        compiled(inner, policy=ruled(wipe="forbidden"))


def test_revoked_agent_makes_no_further_call(drive: Drive) -> None:
    """A revocation of an agent reaches it in every tool it runs in."""
    world = World()
    inner = agent(calls(("look", {"what": "up"})), "done", tools=[world.tool("look")], name="searcher")
    driven = drive(compiled(inner, policy=ruled()))
    driven.session.database.revocations.add("searcher", kind="agent", by="ann")
    assert driven.start(given()).status == "halted"
    assert world.effects == []


def test_call_that_has_no_working_time_left_takes_none_from_the_chart(drive: Drive, clock: ManualClock) -> None:
    """It was not measured, so that the chart goes on being measured."""

    @tool
    def work(what: str) -> str:
        """Take a while."""
        clock.advance(20)
        return what

    inner = agent(calls(("work", {"what": "x"})), tools=[work], policy=Policy(name="a", fuses=Fuses(runtime_s=10)))
    last = sw.State("LAST", do=lambda state: clock.advance(30), to="DONE")
    first = sw.State("FIRST", do=inner, to="DONE", on=[sw.on("fuse.runtime_s", "LAST")])
    policy = Policy(name="p", fuses=Fuses(runtime_s=99))
    driven = drive(sw.Chart("c", MessagesState, first, last, sw.Final("DONE"), policy=policy).compile())
    driven.start(given())
    database = driven.session.database
    run = database.journal.entries("s1")[0].key.run
    assert database.ledger.spent("s1", run=run)["", "runtime_s"] == 50
