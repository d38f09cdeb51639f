"""Agents: how they are drawn, what they refuse to be, and how they stand in a chart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolCall

import stateward as sw
from stateward import teams
from stateward.errors import DefinitionError
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.testing import ScriptedModel, calls
from tests.charts.drive import Driven
from tests.charts.replayed import same
from tests.teams.agents import TOOLS, Work, alone, ask, calculator, said

Drive = Callable[..., Driven]


def test_an_agent_calls_tools_and_answers(drive: Drive) -> None:
    """The model decides, its calls are made, and what it says without calls is the answer."""
    outcome = drive(calculator(calls(("add", {"a": 1, "b": 2})), "It is 3.")).start(ask())
    assert said(outcome.values) == [("human", "1 + 2?"), ("ai", ""), ("tool", "3"), ("ai", "It is 3.")]
    assert outcome.values["team"] == {"CALC": {"steps": 2, "answer": "It is 3."}}


def test_an_unknown_tool_is_an_observation(drive: Drive) -> None:
    """The model reads a JSON error and goes on."""
    outcome = drive(calculator(calls(("nope", {})), "I cannot.")).start(ask())
    observation = outcome.values["messages"][2]
    assert (outcome.status, observation.status) == ("completed", "error")
    assert '"type": "denied", "tool": "nope"' in observation.text


STRICT = Policy(name="strict", tools=ToolPolicy(default="allowed", rules=(Rule(match="add", level="forbidden"),)))


def test_policies_around_an_agent_bind_it(drive: Drive) -> None:
    """A tool that the chart forbids is not called, whatever the model asks for."""
    model = ScriptedModel.of(calls(("add", {"a": 1, "b": 2})), "No.")
    graph = alone(teams.agent("CALC", model="m", tools=TOOLS), model, policy=STRICT)
    assert drive(graph).start(ask()).values["messages"][2].status == "error"


def test_a_tool_that_is_forbidden_is_not_shown(drive: Drive) -> None:
    """A model is offered what it may use."""

    async def show(state: Work, run: sw.Run[Any]) -> dict[str, Any]:
        return {"found": {"shown": [tool.name for tool in run.shown(["add", "fail"])]}}

    block = sw.State("SHOW", do=show, tools=["add", "fail"])
    values = drive(alone(block, ScriptedModel.of(), policy=STRICT)).start(ask()).values
    assert values["found"] == {"shown": ["fail"]}


def test_agents_beside_each_other_share_a_conversation(drive: Drive) -> None:
    """Each finds its own calls, and every call has its answer in the end."""
    blocks = [teams.agent(name, model=by_rules(name), tools=TOOLS) for name in ("LEFT", "RIGHT")]
    outcome = drive(alone(sw.Parallel("BOTH", *blocks), ScriptedModel.of())).start(ask())
    assert {name: outcome.values["team"][name]["answer"] for name in ("LEFT", "RIGHT")} == {"LEFT": "3", "RIGHT": "3"}
    assert len([message for message in outcome.values["messages"] if message.type == "tool"]) == 2


def by_rules(name: str) -> teams.Rules:
    """Add once, with a call of its own id, and say the sum."""

    def rules(messages: Sequence[BaseMessage]) -> AIMessage | str:
        own = [message.text for message in messages if getattr(message, "tool_call_id", "") == name]
        return own[0] if own else AIMessage("", tool_calls=[ToolCall(name="add", args={"a": 1, "b": 2}, id=name)])

    return rules


def test_a_turn_fuse_stops_an_agent(drive: Drive) -> None:
    """What bounds the chart bounds the agent, whatever its own steps are."""
    often = [calls(("add", {"a": 1, "b": 2}))] * 8
    outcome = drive(calculator(*often, policy=Policy(name="p", fuses=Fuses(turns=2)), handles=["fuse"])).start(ask())
    assert (outcome.path, outcome.values["team"]["CALC"]["steps"]) == ("HELP", 2)


def test_an_agent_begins_its_steps_anew_when_it_is_entered_again(drive: Drive) -> None:
    """The count is of one entry, and the next question is answered as the first was."""
    driven = drive(calculator(calls(("add", {"a": 1, "b": 2})), "3", "4", max_steps=2))
    driven.start(ask())
    assert driven.start(ask("2 + 2?")).values["team"]["CALC"] == {"steps": 1, "answer": "4"}


def test_a_conversation_of_its_own_is_kept_over_runs(drive: Drive) -> None:
    """With the memory `thread` the second task finds the first one."""
    driven = drive(calculator("3", "4", conversation="own"))
    driven.start(ask())
    values = driven.start(ask("2 + 2?")).values
    assert said(values, "own") == [("human", "1 + 2?"), ("ai", "3"), ("human", "2 + 2?"), ("ai", "4")]


@pytest.mark.parametrize("memory", ["invocation", "none"])
def test_an_agent_without_memory_knows_its_task_alone(drive: Drive, memory: Any) -> None:
    """What it said before it was entered is forgotten; the conversation with the user stands."""
    driven = drive(calculator("3", "4", conversation="own", memory=memory))
    driven.start(ask())
    values = driven.start(ask("2 + 2?")).values
    assert said(values, "own") == [("human", "2 + 2?"), ("ai", "4")]
    assert said(values) == [("human", "1 + 2?"), ("human", "2 + 2?")]


def test_a_member_does_the_task_that_it_is_told(drive: Drive) -> None:
    """A task in its record comes before the user's words."""
    given = {**ask(), **teams.told("CALC", "Add 2 and 2.")}
    values = drive(calculator("4", conversation="own")).start(given).values
    assert said(values, "own") == [("human", "Add 2 and 2."), ("ai", "4")]


def test_a_task_is_told_in_a_shared_conversation_too(drive: Drive) -> None:
    """The model hears it, and the conversation with the user does not grow by it."""
    model = ScriptedModel.of("4")
    graph = alone(teams.agent("CALC", model="m", prompt="You add."), model)
    values = drive(graph).start({**ask(), **teams.told("CALC", "Add 2 and 2.")}).values
    assert model.calls[0][0].text == "You add.\n\nYour task: Add 2 and 2."
    assert said(values) == [("human", "1 + 2?"), ("ai", "4")]


def test_input_and_output_map_the_task_and_the_answer(drive: Drive) -> None:
    """A function of the state is the task; one of the answer is an update."""

    def found(answer: object) -> dict[str, Any]:
        return {"found": {"sum": answer}}

    def task(state: Work) -> str:
        return "Say 4."

    values = drive(calculator("4", conversation="own", input=task, output=found)).start(ask()).values
    assert (values["own"][0].text, values["found"]) == ("Say 4.", {"sum": "4"})


def test_an_agent_is_a_member_of_any_superstate(drive: Drive) -> None:
    """It is a chart element like another: flattened, with one checkpoint for each state."""
    inner = teams.placed(teams.agent("CALC", model="m"), to="END")
    team = sw.Superstate("TEAM", inner, sw.Final("END"))
    assert drive(alone(team, ScriptedModel.of("3"))).start(ask()).values["team"]["CALC"]["answer"] == "3"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"max_steps": 0}, "`max_steps` is 0"),
        ({"memory": "all"}, "`memory` is 'all'"),
        ({"memory": "none"}, "would forget the conversation with the user"),
        ({"tools": [ask]}, "ask at .* is no tool"),
    ],
)
def test_an_agent_that_cannot_be_is_refused(given: dict[str, Any], told: str) -> None:
    """The message says what is wrong, and where."""
    with pytest.raises(DefinitionError, match=told):
        teams.agent("CALC", model="m", **given)


@pytest.mark.parametrize("way", [str, AIMessage])
def test_rules_stand_in_for_a_model(drive: Drive, way: Any) -> None:
    """A function of what a model would be sent says what a model would; no model is configured."""

    def rules(messages: Sequence[BaseMessage]) -> AIMessage | str:
        last = messages[-1]
        return calls(("add", {"a": 1, "b": 2})) if last.type == "human" else way(f"It is {last.text}.")

    outcome = drive(alone(teams.agent("CALC", model=rules, tools=TOOLS), ScriptedModel.of())).start(ask())
    assert outcome.values["team"]["CALC"] == {"steps": 2, "answer": "It is 3."}


def test_rules_may_be_async(drive: Drive) -> None:
    """They are awaited."""

    async def rules(messages: Sequence[BaseMessage]) -> str:
        return "3"

    assert drive(alone(teams.agent("CALC", model=rules), ScriptedModel.of())).start(ask()).status == "completed"


@sw.tool(effect="once")
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def test_an_agent_without_memory_refuses_what_may_ask() -> None:
    """When the chart is made, it is told which tool may need a person."""
    block = teams.agent("CALC", model="m", tools=[pay], conversation="own", memory="none")
    with pytest.raises(DefinitionError, match="must not wait for a person, and `pay` may need one"):
        alone(block, ScriptedModel.of())


def test_a_restricted_tool_may_ask() -> None:
    """A policy around the agent counts as well."""
    careful = Policy(name="c", tools=ToolPolicy(default="allowed", rules=(Rule(match="add", level="restricted"),)))
    with pytest.raises(DefinitionError, match="`add` may need one"):
        calculator(conversation="own", memory="none", policy=careful)


def test_an_agent_is_replayed(drive: Drive) -> None:
    """Its calls are answered from the record, and all comes to the same."""
    driven = drive(calculator(calls(("add", {"a": 1, "b": 2}), ("nope", {})), "3", conversation="own"))
    driven.start(ask())
    assert same(driven)
