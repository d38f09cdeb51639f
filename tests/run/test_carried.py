"""Tools that agents bring along: nobody names them twice, and nobody gets another one unseen."""

from __future__ import annotations

import pytest

import stateward as sw
from stateward import teams
from stateward.errors import DefinitionError
from stateward.run.door.tool import Tool
from stateward.testing import ScriptedModel
from tests.teams.agents import Work, alone


def named(name: str, *, says: str) -> Tool:
    """A tool that says something."""

    @sw.tool(effect="pure", name=name)
    def tool() -> str:
        """Say something."""
        return says

    return tool


def chart(*blocks: Tool) -> sw.Chart[Work]:
    """A chart of agents in a row, each of which brings one tool."""
    agents = [teams.agent(f"A{no}", model="m", tools=[tool]) for no, tool in enumerate(blocks)]
    following = [*(agent.name for agent in agents[1:]), "END"]
    placed = [teams.placed(agent, to=to) for agent, to in zip(agents, following, strict=True)]
    return sw.Chart("carried", Work, *placed, sw.Final("END"))


def test_a_tool_that_is_brought_is_registered() -> None:
    """`compile` needs no word of it, and `check` knows its effect."""
    tool = named("say", says="a")
    assert chart(tool).compile(models={"m": ScriptedModel.of()}).machine.tools == {"say": tool}


def test_what_is_given_counts_before_what_is_brought() -> None:
    """A test puts another tool in its place."""
    other = named("say", says="b")
    graph = chart(named("say", says="a")).compile(tools=[other], models={"m": ScriptedModel.of()})
    assert graph.machine.tools == {"say": other}


def test_one_tool_may_be_brought_twice() -> None:
    """Agents share it."""
    tool = named("say", says="a")
    assert chart(tool, tool).compile(models={"m": ScriptedModel.of()}).machine.tools == {"say": tool}


def test_two_tools_of_one_name_are_refused() -> None:
    """Neither is meant for sure."""
    with pytest.raises(DefinitionError, match="Two tools are named `say`"):
        chart(named("say", says="a"), named("say", says="b")).compile(models={"m": ScriptedModel.of()})


def test_a_chart_inside_another_brings_its_tools() -> None:
    """What wraps its activities does not hide them."""
    tool = named("say", says="a")
    block = chart(tool).as_superstate("INSIDE", output={"found": "found"})
    assert alone(block, ScriptedModel.of()).machine.tools == {"say": tool}
