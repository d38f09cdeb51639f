"""The governor in a plain agent: limits, levels, approvals, journal, both ways."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]  # a saver of anything
from langchain.agents.middleware import ModelRetryMiddleware, wrap_model_call
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import stateward as sw
from stateward.errors import DefinitionError, Drift, FuseTripped, GovernanceError, InputRefused
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.governor import Governor
from stateward.run.store.database import Database
from stateward.testing import How, ScriptedModel, calls
from tests.charts.agents import Talk, World, agent, observations, ruled


def talking(*replies: Any, how: How, database: Database, **rest: Any) -> Talk:
    return Talk(agent(*replies, database=database, checkpointer=InMemorySaver(), **rest), how)


def test_forbidden_tool_is_an_observation(how: How, database: Database) -> None:
    """The model is told, the tool is not called, and the agent goes on."""
    world = World()
    talk = talking(
        calls(("wipe", {"what": "all"})),
        "sorry",
        how=how,
        database=database,
        tools=[world.tool("wipe")],
        policy=ruled(wipe="forbidden"),
    )
    values = talk.say()
    ((status, text),) = observations(values)
    assert (status, "forbidden" in text, world.effects) == ("error", True, [])
    assert values["messages"][-1].text == "sorry"


def test_tool_that_the_agent_does_not_have_is_an_observation(how: How, database: Database) -> None:
    """A tool that a model makes up is refused like any other."""
    talk = talking(calls(("fly", {"what": "up"})), "sorry", how=how, database=database, tools=[World().tool("look")])
    ((status, text),) = observations(talk.say())
    assert (status, '"denied"' in text) == ("error", True)


def test_arguments_that_do_not_fit_never_reach_the_tool(how: How, database: Database) -> None:
    """They are checked before anything is decided."""
    world = World()
    talk = talking(calls(("look", {"where": 3})), "sorry", how=how, database=database, tools=[world.tool("look")])
    ((status, text),) = observations(talk.say())
    assert (status, '"invalid"' in text, world.effects) == ("error", True, [])


def test_failing_tool_is_an_observation(how: How, database: Database) -> None:
    """Its siblings' results are not lost with it."""
    world = World()
    tools = [world.tool("look"), world.tool("burn", raises=RuntimeError("fire"))]
    talk = talking(
        calls(("burn", {"what": "x"}), ("look", {"what": "y"})), "so", how=how, database=database, tools=tools
    )
    assert [status for status, _ in observations(talk.say())] == ["error", "success"]


def test_restricted_tools_are_asked_about_in_langchains_form(how: How, database: Database) -> None:
    """Each call of a reply has its own question, and its own answer."""
    world = World()
    reply = calls(("pay", {"what": "1"}), ("pay", {"what": "2"}))
    talk = talking(reply, "done", how=how, database=database, tools=[world.tool("pay")], policy=ruled(pay="restricted"))
    talk.say()
    waiting = talk.graph.get_state(talk.config).interrupts
    asked = [each.value["action_requests"][0]["args"]["what"] for each in waiting]
    assert sorted(asked) == ["1", "2"]
    values = talk.answer("approve", "reject", message="too much")
    said = dict(zip(["1", "2"], observations(values), strict=True))
    assert "too much" in said[asked[1]][1]
    assert said[asked[0]] == ("success", f"pay {asked[0]}")


def test_answer_over_the_inbox_counts(how: How, database: Database) -> None:
    """What another process answered is found when the thread goes on."""
    world = World()
    talk = talking(
        calls(("pay", {"what": "1"})),
        "done",
        how=how,
        database=database,
        tools=[world.tool("pay")],
        policy=ruled(pay="restricted"),
    )
    talk.say()
    (ask,) = database.asks.open("t")
    database.asks.answer(ask.id, decision="approve", by="bob")
    assert talk.send(None)["messages"][-1].text == "done"
    assert world.effects == [("pay", "1")]


@pytest.mark.parametrize(
    "answer",
    [
        {"decisions": []},
        {"type": "maybe"},
        3,
        {"decisions": [{"type": "edit"}]},
        {"type": "approve", "edited_action": {"name": "pay", "args": {"what": "5"}}},
    ],
)
def test_what_is_no_answer_is_refused(how: How, database: Database, answer: Any) -> None:
    """The question stays, and the right answer is taken afterwards."""
    world = World()
    talk = talking(
        calls(("pay", {"what": "1"})),
        "done",
        how=how,
        database=database,
        tools=[world.tool("pay")],
        policy=ruled(pay="restricted"),
    )
    talk.say()
    with pytest.raises(InputRefused, match="is no answer"):
        talk.send(Command(resume=answer))
    talk.answer("approve")
    assert world.effects == [("pay", "1")]


def test_nobody_answers_without_a_name(how: How, database: Database) -> None:
    """An approval belongs to a person."""
    world = World()
    talk = talking(
        calls(("pay", {"what": "1"})),
        "done",
        how=how,
        database=database,
        tools=[world.tool("pay")],
        policy=ruled(pay="restricted"),
    )
    talk.say()
    talk.approver = ""
    with pytest.raises(GovernanceError, match="named person"):
        talk.answer("approve")
    assert world.effects == []


def test_limits_hold_over_human_answers(how: How, database: Database) -> None:
    """HAZARDS 7: an answer begins no new run, and so no new allowance."""
    world = World()
    pol = Policy(
        name="p", tools=ToolPolicy(default="allowed", rules=(Rule(match="pay", level="restricted", max_calls=3),))
    )
    replies = [calls(("pay", {"what": str(n)})) for n in range(6)]
    talk = talking(*replies, "done", how=how, database=database, tools=[world.tool("pay")], policy=pol)
    values = talk.say()
    for _ in range(3):
        values = talk.answer("approve")
    assert (world.done("pay"), "__interrupt__" in values) == (["0", "1", "2"], False)
    assert values["messages"][-1].text == "done"


def test_fuse_halts_an_agent_until_its_limit_is_raised(how: How, database: Database) -> None:
    """It trips before the call; raised by a named person, the same thread goes on."""
    world = World()
    talk = talking(
        calls(("look", {"what": "1"})),
        "done",
        how=how,
        database=database,
        tools=[world.tool("look")],
        policy=Policy(name="p", fuses=Fuses(turns=1)),
    )
    with pytest.raises(FuseTripped, match=r"fuse\.turns"):
        talk.say()
    run = database.journal.entries("t")[0].key.run
    database.ledger.raise_limit("t", run=run, scope="", unit="turns", value=2, by="ann", reason="worth it")
    assert talk.send(None)["messages"][-1].text == "done"
    assert world.done("look") == ["1"]


def test_next_input_begins_a_new_run(how: How, database: Database) -> None:
    """Each input of a thread has its own allowance, as a run of a chart has."""
    talk = talking("one", "two", how=how, database=database, policy=Policy(name="p", fuses=Fuses(turns=1)))
    talk.say()
    assert talk.say()["messages"][-1].text == "two"
    assert len({entry.key.run for entry in database.journal.entries("t")}) == 2


class Killed(BaseException):
    """As if the process had ended."""


def test_completed_calls_come_from_the_journal_after_a_crash(how: How, database: Database) -> None:
    """The step that was cut off is taken again: the model is not paid twice, and nothing happens twice."""
    world, killed = World(), [Killed()]

    @tool
    def crash(what: str) -> str:
        """Crash once."""
        world.effects.append(("crash", what))
        if killed:
            raise killed.pop()
        return "crashed before"

    rest: Any = {"tools": [world.tool("pay"), crash], "effects": {"crash": "idempotent"}}
    talk = talking(
        calls(("pay", {"what": "1"})), calls(("crash", {"what": "x"})), "done", how=how, database=database, **rest
    )
    with pytest.raises(Killed):
        talk.say()
    assert talk.send(None)["messages"][-1].text == "done"
    assert world.effects == [("pay", "1"), ("crash", "x"), ("crash", "x")]
    assert [e.tries for e in database.journal.entries("t") if e.kind == "tool"] == [1, 2]


def test_call_that_a_crash_cut_off_is_asked_about(how: How, database: Database) -> None:
    """Of a tool that may run once nobody knows whether it did."""
    world = World()
    talk = talking(
        calls(("pay", {"what": "1"})), "done", how=how, database=database, tools=[world.tool("pay", raises=Killed())]
    )
    with pytest.raises(Killed):
        talk.say()
    (asked,) = talk.send(None)["__interrupt__"]
    assert "nobody knows" in asked.value["action_requests"][0]["description"]
    assert talk.answer("reject")["messages"][-1].text == "done"
    assert world.done("pay") == ["1"]


def test_ungoverned_answer_behind_the_governor_is_refused(how: How, database: Database) -> None:
    """Who stands behind the governor and asks another model is found out."""
    other = ScriptedModel.of("sneaky")

    @wrap_model_call
    def swap(request: Any, handler: Any) -> Any:
        return handler(request.override(model=other))

    middleware: Any = [Governor(database=database), swap]
    graph: Any = create_agent(ScriptedModel.of("x"), middleware=middleware)
    with pytest.raises(GovernanceError, match="Put the governor last"):
        graph.invoke({"messages": [("user", "go")]})


def test_policy_that_changed_is_drift(how: How, database: Database) -> None:
    """A run goes on under the policy that it was begun under."""
    saver, world = InMemorySaver(), World()
    parts: Any = {"database": database, "checkpointer": saver, "tools": [world.tool("pay")]}
    Talk(agent(calls(("pay", {"what": "1"})), policy=ruled(pay="restricted"), **parts), how).say()
    later = Talk(agent("done", policy=ruled(pay="allowed"), **parts), how)
    with pytest.raises(Drift, match="begun under the policy"):
        later.answer("approve")
    assert world.effects == []


def test_tools_of_ours_keep_their_declared_effect(how: How, database: Database) -> None:
    """They get their context as in a chart."""
    keys: list[str] = []

    @sw.tool(effect="idempotent")
    def pay(what: str, *, ctx: sw.ToolContext) -> dict[str, str]:
        """Pay."""
        keys.append(ctx.idempotency_key)
        return {"paid": what}

    talk = talking(calls(("pay", {"what": "1"})), "done", how=how, database=database, tools=[pay])
    assert observations(talk.say()) == [("success", '{"paid": "1"}')]
    assert [e.effect for e in database.journal.entries("t") if e.kind == "tool"] == ["idempotent"]
    assert keys == [e.key.idempotency_key for e in database.journal.entries("t") if e.kind == "tool"]


def test_commands_of_tools_come_through(how: How, database: Database) -> None:
    """A tool may write to the agent's state."""

    @tool
    def note(what: str) -> Command[Any]:
        """Note."""
        return Command(update={"messages": [ToolMessage("noted", tool_call_id="call_1")]})

    talk = talking(calls(("note", {"what": "1"})), "done", how=how, database=database, tools=[note])
    assert observations(talk.say()) == [("success", "noted")]


def test_session_is_listed(how: How, database: Database) -> None:
    """A thread is a session: what an operator revokes from it reaches it."""
    world = World()
    talk = talking(
        calls(("pay", {"what": "1"})),
        "done",
        how=how,
        database=database,
        tools=[world.tool("pay")],
        policy=ruled(pay="restricted"),
    )
    talk.say()
    assert [(row.id, row.status) for row in database.sessions.list()] == [("t", "waiting")]
    database.revocations.add("pay", kind="tool", by="bob", session="t")
    assert "revoked by bob" in observations(talk.answer("approve"))[0][1]
    assert world.effects == []


@pytest.mark.parametrize("name", ["", "a/b", 3])
def test_name_of_an_agent_is_a_word(name: Any) -> None:
    """It becomes part of paths."""
    with pytest.raises(DefinitionError, match="no name of an agent"):
        Governor(name=name)


def test_model_that_failed_is_asked_again(how: How, database: Database) -> None:
    """A thread is not stuck with a failure: the journal keeps it, and the next try has its own number."""
    talk = talking(ConnectionError("down"), "up", how=how, database=database)
    with pytest.raises(ConnectionError, match="down"):
        talk.say()
    assert talk.send(None)["messages"][-1].text == "up"
    assert [(e.key.call, e.status) for e in database.journal.entries("t")] == [(1, "failed"), (1001, "completed")]


def test_retries_in_front_of_the_governor_are_calls_of_their_own(how: How, database: Database) -> None:
    """Each is counted."""
    retry = ModelRetryMiddleware(max_retries=2, initial_delay=0.0, jitter=False)
    talk = talking(ConnectionError("down"), "up", how=how, database=database, middleware=[retry])
    assert talk.say()["messages"][-1].text == "up"
    assert database.ledger.totals("t").turns == 2


def test_fork_says_something_else(how: How, database: Database) -> None:
    """A turn that is taken again over other messages is another call, and costs its own."""
    saver = InMemorySaver()
    talk = Talk(agent("one", "two", database=database, checkpointer=saver), how)
    talk.say("first")
    begun = [each for each in talk.graph.get_state_history(talk.config) if each.next == ("model",)][-1]
    where = talk.graph.update_state(begun.config, {"messages": [("user", "other")]}, as_node="Governor.before_agent")
    values = talk.graph.invoke(None, where)
    assert values["messages"][-1].text == "two"
