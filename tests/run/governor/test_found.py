"""Graphs without a governor are found in activities, in tools, and in the tools of agents."""

from __future__ import annotations

import sys
import warnings
from functools import partial
from typing import Any, cast

import pytest
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]  # a saver of anything
from langchain_core.tools import BaseTool, tool
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import DefinitionError
from stateward.run.governor.found import governors_in, graph_of, graphs_of, tools_in, ungoverned
from stateward.testing import How, ScriptedModel, calls
from tests.charts.agents import World, agent, ruled
from tests.charts.one import compiled

BARE = cast(Any, create_agent(ScriptedModel.of("done"), [], name="bare"))
GOVERNED = agent("done")


def nothing(state: Any) -> None:
    """Do nothing."""


class Text(TypedDict, total=False):
    """Anything."""

    text: str


def around(*nodes: Any) -> CompiledStateGraph[Any, Any, Any, Any]:
    builder: Any = StateGraph(Text)
    for number, node in enumerate(nodes):
        builder.add_node(f"n{number}", node)
        builder.add_edge(START, f"n{number}")
    return builder.compile()


@sw.tool()
async def ask_bare(what: str) -> str:
    """Ask an agent that a name of the module means."""
    return str(await BARE.ainvoke({"messages": [("user", what)]}))


def in_a_closure() -> Any:
    inner = {"agents": [BARE]}

    @sw.tool(name="hidden")
    def hidden(what: str) -> str:
        """Ask an agent in a container."""
        return str(inner["agents"][0].invoke({"messages": [("user", what)]}))

    return hidden


def as_tool() -> BaseTool:
    with warnings.catch_warnings(action="ignore"):  # LangChain calls it a beta
        return BARE.as_tool(name="bare_tool", description="Ask.", arg_types={"messages": list})


class Holder:
    """Keeps an agent."""

    def __init__(self) -> None:
        self.agent: Any = BARE

    def ask(self, what: str) -> str:
        """Ask it."""
        return str(self.agent.invoke({"messages": [("user", what)]}))


def test_governor_is_found_in_its_agent() -> None:
    """And in a graph that is made of such agents only."""
    assert [found.agent for found in governors_in(GOVERNED)] == ["agent"]
    assert [found.agent for found in governors_in(around(GOVERNED))] == ["agent"]


@pytest.mark.parametrize("graph", [BARE, around(BARE), around(GOVERNED, BARE), around(GOVERNED, nothing)])
def test_graph_with_one_ungoverned_node_has_none(graph: Any) -> None:
    """Of somebody's function nobody knows what it calls."""
    assert governors_in(graph) == ()


@pytest.mark.parametrize("fn", [ask_bare.fn, in_a_closure().fn, as_tool(), Holder().ask, partial(Holder().ask, "x")])
def test_graphs_of_a_function_are_seen(fn: Any) -> None:
    """Whatever way it holds on to them."""
    assert [graph.name for graph in graphs_of(fn)] == ["bare"]


def test_graph_in_a_config_or_a_sequence_is_seen() -> None:
    """What stands around a graph does not hide it."""
    assert graph_of(BARE.with_config(tags=["t"])) is not None
    assert graph_of(BARE | nothing) is not None


def test_tools_of_an_agent_are_known() -> None:
    """Its policy is compared with the chart's for each of them."""
    assert list(tools_in(around(agent("x", tools=[World().tool("look")])))) == ["look"]


@pytest.mark.parametrize("name", ["ask_bare", "hidden"])
def test_tool_with_an_ungoverned_graph_is_refused_under_a_policy(name: str) -> None:
    """The message says how to mend it."""
    box = {"ask_bare": ask_bare, "hidden": in_a_closure()}
    with pytest.raises(DefinitionError, match=r"Give the agent a governor") as refused:
        compiled(nothing, box=[box[name]], policy=ruled())
    assert f"`{name}`" in str(refused.value)


def test_tool_with_an_ungoverned_graph_runs_where_nothing_restricts_it() -> None:
    """There is nothing that it could pass by."""
    assert compiled(nothing, box=[ask_bare]).name == "one"


def test_ungoverned_graph_in_a_tool_of_an_agent_is_refused(how: How) -> None:
    """When the chart is compiled, and in a plain agent before the tool is called."""
    made = agent(calls(("bare_tool", {"messages": []})), tools=[as_tool()], policy=ruled())
    with pytest.raises(DefinitionError, match="would not bind"):
        compiled(made, policy=ruled())
    with pytest.raises(DefinitionError, match="would not bind"):
        made.invoke({"messages": [("user", "go")]})


def test_graph_that_a_tool_does_not_show_is_not_seen() -> None:
    """The search looks at what a function uses, and no further: what it imports is its own affair."""

    @tool
    def sly(what: str) -> str:
        """Find an agent by another way."""
        return str(sys.modules)

    assert list(ungoverned({"sly": sly})) == []
