"""Which tools are on record."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import stateward as sw
from stateward.cli.known_tool import is_known_tool
from stateward.govern.policy import Policy, Rule, ToolPolicy
from tests.charts.team import Team


@sw.tool(effect="pure")
def look(what: str) -> str:
    """Look something up."""
    return f"saw {what}"


async def act(state: Any, run: sw.Run[Any]) -> None:
    await run.tool("look", what="x")


@pytest.fixture
def known():
    """Whether a tool is known where a session `s1` has called one, under a policy that takes any name."""
    policy = Policy(name="free", tools=ToolPolicy(rules=(Rule(match=".*", level="allowed"),)))
    state = sw.State("ACT", do=act, tools=["look"], to="DONE")
    graph = sw.Chart("c", Team, state, sw.Final("DONE"), policy=policy).compile(tools=[look])
    database = sw.open("memory:")
    sw.Session("s1", graph, database).start({})
    return partial(is_known_tool, database=database, machine=None)


def test_a_tool_that_was_called_is_known(known):
    """In the session that called it."""
    assert (known("look", session="s1"), known("lock", session="s1")) == (True, False)


def test_a_pattern_that_takes_any_name_knows_no_tool(known):
    """A policy that allows everything says nothing about one tool."""
    assert not known("look", session=None)
