"""Graphs of somebody else as agents: what goes in and out, what is remembered, and what binds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]  # a saver of anything
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph

import stateward as sw
from stateward import teams
from stateward.errors import DefinitionError
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.governor import Governor
from stateward.testing import ScriptedModel, calls
from tests.charts.agents import World
from tests.charts.drive import Driven
from tests.teams.agents import Work, alone, ask, said

Drive = Callable[..., Driven]


def heard(state: MessagesState) -> dict[str, Any]:
    """Say what was heard."""
    return {"messages": [AIMessage(" | ".join(message.text for message in state["messages"]))]}


def parrot() -> Any:
    """A graph that says everything it was told."""
    builder = StateGraph(MessagesState)
    builder.add_node("say", heard)
    builder.add_edge(START, "say")
    builder.add_edge("say", END)
    return builder.compile()


def governed(*replies: Any, tools: Any = ()) -> Any:
    """An agent of LangChain under a governor."""
    return create_agent(ScriptedModel.of(*replies), tools, middleware=[Governor(name="inner")])


def with_graph(graph: Any, *, policy: Policy | None = None, **rest: Any) -> Any:
    """A chart of one state, which is the graph."""
    return alone(teams.agent("AGENT", graph=graph, **rest), ScriptedModel.of(), policy=policy)


def test_a_graph_joins_the_conversation(drive: Drive) -> None:
    """It is shown the shared conversation, and what it adds is kept once."""
    values = drive(with_graph(parrot())).start(ask("a")).values
    assert said(values) == [("human", "a"), ("ai", "a")]
    assert values["team"]["AGENT"]["answer"] == "a"


@pytest.mark.parametrize(("own", "name"), [(None, "AGENT"), ("inner", "inner")])
def test_what_a_graph_says_bears_the_name_of_who_speaks(drive: Drive, own: str | None, name: str) -> None:
    """As what an agent of a model says; a name that the graph gave itself stands, and a person's words get none."""
    graph = cast("Any", create_agent)(ScriptedModel.of("hi"), [], name=own)
    values = drive(with_graph(graph)).start(ask("a")).values
    assert [message.name for message in values["messages"]] == [None, name]


def test_a_factory_is_asked_once(drive: Drive) -> None:
    """The graph is made when the chart is."""
    made: list[Any] = []

    def factory() -> Any:
        made.append(parrot())
        return made[-1]

    driven = drive(with_graph(factory))
    driven.start(ask("a"))
    driven.start(ask("b"))
    assert len(made) == 1


def test_a_graph_remembers_its_own_conversation_over_runs(drive: Drive) -> None:
    """With the memory `thread` it hears of the turns before; the user's conversation is not its own."""
    driven = drive(with_graph(parrot, conversation="own"))
    driven.start(ask("a"))
    values = driven.start(ask("b")).values
    assert said(values, "own") == [("human", "a"), ("ai", "a"), ("human", "b"), ("ai", "a | a | b")]
    assert said(values) == [("human", "a"), ("human", "b")]


@pytest.mark.parametrize("memory", ["invocation", "none"])
def test_a_graph_without_memory_hears_its_task_alone(drive: Drive, memory: Any) -> None:
    """Nothing of its conversation is kept."""
    driven = drive(with_graph(parrot, memory=memory))
    driven.start(ask("a"))
    values = driven.start(ask("b")).values
    assert (values["team"]["AGENT"]["answer"], said(values)) == ("b", [("human", "a"), ("human", "b")])


def test_a_graph_does_the_task_that_it_is_told(drive: Drive) -> None:
    """The task stands behind the shared conversation, for it alone."""
    values = drive(with_graph(parrot)).start({**ask("a"), **teams.told("AGENT", "do b")}).values
    assert said(values) == [("human", "a"), ("ai", "a | do b")]


def test_input_and_output_are_explicit(drive: Drive) -> None:
    """What goes in is a function of the state, what comes out one of the graph's last state."""

    def given(state: Work) -> Any:
        return {"messages": [("user", "only this")]}

    def found(final: MessagesState) -> dict[str, Any]:
        return {"found": {"heard": final["messages"][-1].text}}

    values = drive(with_graph(parrot, input=given, output=found)).start(ask("a")).values
    assert (values["found"], said(values)) == ({"heard": "only this"}, [("human", "a")])


def test_a_graph_adds_no_checkpoints_of_its_own(drive: Drive) -> None:
    """It runs detached: one checkpoint for its state."""
    driven = drive(with_graph(parrot))
    driven.start(ask("a"))
    assert {point.config["configurable"].get("checkpoint_ns", "") for point in driven.checkpoints} == {""}


def test_the_policy_around_binds_a_governed_agent(drive: Drive) -> None:
    """Its turns are counted with those of the chart."""
    world = World()
    graph = governed(calls(("act", {"what": "x"})), "done", tools=[world.tool("act")])
    outcome = drive(with_graph(graph, policy=Policy(name="p", fuses=Fuses(turns=1)))).start(ask("a"))
    assert (outcome.status, world.done("act")) == ("halted", ["x"])


def test_an_agent_without_governor_is_refused_under_a_policy_that_restricts() -> None:
    """Its calls would pass by the door."""
    with pytest.raises(DefinitionError, match="whose calls the policy here would not bind"):
        with_graph(parrot, policy=Policy(name="p", fuses=Fuses(turns=1)))


def test_a_governed_agent_without_memory_is_refused_where_a_tool_of_it_may_ask() -> None:
    """After a crash only a person can say what its call came to, and the agent remembers nothing."""
    with pytest.raises(DefinitionError, match="must not wait for a person"):
        with_graph(governed("done", tools=[World().tool("act")]), memory="none")


@pytest.mark.parametrize("effect", [{}, {"act": "idempotent"}])
def test_a_governed_agent_without_memory_runs_where_no_tool_of_it_may_ask(drive: Drive, effect: Any) -> None:
    """Without tools, or with those that may be called again."""
    tools: list[Any] = [World().tool(name) for name in effect]
    inner = create_agent(ScriptedModel.of("done"), tools, middleware=[Governor(name="inner", effects=effect)])
    assert drive(with_graph(inner, memory="none")).start(ask("a")).status == "completed"


def test_a_policy_may_make_a_governed_agents_tool_ask() -> None:
    """What binds the agent alone counts too."""
    tools: list[Any] = [World().tool("act")]
    careful = Policy(name="c", tools=ToolPolicy(default="allowed", rules=(Rule(match="act", level="restricted"),)))
    effects: Any = {"act": "pure"}
    inner = create_agent(ScriptedModel.of("done"), tools, middleware=[Governor(careful, name="in", effects=effects)])
    with pytest.raises(DefinitionError, match="a governed agent in it may need one"):
        with_graph(inner, memory="none")


def test_an_agent_inside_a_tool_of_a_governed_agent_may_ask() -> None:
    """Whatever it is inside of, its question would be the state's."""
    deep = governed("done", tools=[World().tool("act")])

    @sw.tool(effect="pure")
    async def think(about: str) -> str:
        """Think."""
        return str(await deep.ainvoke({"messages": [("user", about)]}))

    inner = create_agent(ScriptedModel.of("done"), [], middleware=[Governor(name="outer", tools=[think])])
    with pytest.raises(DefinitionError, match="must not wait for a person"):
        with_graph(inner, memory="none")


def test_what_is_no_graph_is_refused() -> None:
    """The message says what would be one."""
    with pytest.raises(DefinitionError, match="`graph` is str, not a compiled graph"):
        teams.agent("AGENT", graph=lambda: "agent")  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_a_graph_has_its_tools_already() -> None:
    """What would be for a model and tools is refused beside a graph."""
    with pytest.raises(DefinitionError, match="`tools` is nothing that the agent takes"):
        teams.agent("AGENT", graph=parrot, tools=["x"])  # pyright: ignore[reportCallIssue]


def test_a_graph_agent_stands_in_a_chart_inside_another(drive: Drive) -> None:
    """Under other names of the keys it hears and says the same."""
    inside = sw.Chart("inside", Work, teams.placed(teams.agent("AGENT", graph=parrot), to="END"), sw.Final("END"))
    block = inside.as_superstate("INSIDE", output={"messages": "own"})
    assert said(drive(alone(block, ScriptedModel.of())).start({"own": [("user", "a")]}).values, "own") == [
        ("human", "a"),
        ("ai", "a"),
    ]


def test_an_agent_is_of_a_model_or_of_a_graph() -> None:
    """Not of both, and not of neither."""
    with pytest.raises(DefinitionError, match="a model and a graph"):
        teams.agent("AGENT", graph=parrot, model="m")  # pyright: ignore[reportCallIssue]
    with pytest.raises(DefinitionError, match="has no model"):
        teams.agent("AGENT")  # pyright: ignore[reportCallIssue]
