"""Tools: what the local model asks for goes through the door like anybody's call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.govern.policy import ArgumentRule, Policy, Rule, ToolPolicy
from stateward.models import tool_schema
from stateward.run.store.database import Database
from stateward.testing import How
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.llm.asking import role, tokens, told
from tests.llm.shim import Shim

pytestmark = pytest.mark.slow
Drive = Callable[..., Driven]


@pytest.fixture
def how() -> How:
    """One way is enough: the other tests go both, and this model takes its time."""
    return "async"


@sw.tool(effect="pure")
def look_up(topic: str) -> str:
    """Look a topic up in the handbook."""
    return f"{topic[:10]}: a thing"


async def agent(state: Any, run: sw.Run[Any]) -> Any:
    """Let the model call a tool, show it the result, and let it answer."""
    said = await run.model().bind_tools([tool_schema(look_up)]).ainvoke("What is a fuse? Look it up.")
    results = await run.tools(said.tool_calls)
    return {"log": [f"{one.name} {one.status}" for one in results]}


def graph(shim: Shim, **rule: Any) -> sw.ChartGraph:
    tools = ToolPolicy(rules=(Rule(match="look_up", **rule),))
    voice = role(shim, max_output_tokens=80)
    policy = Policy(name="p", tools=tools)
    return compiled(agent, box=[look_up], models={"voice": voice}, model="voice", policy=policy)


def test_what_the_model_calls_is_called(shim: Shim, drive: Drive, database: Database) -> None:
    """Its tool call runs, and the tokens for it are in the journal."""
    assert drive(graph(shim, level="allowed")).start({}).values["log"] == ["look_up ok"]
    assert tokens(database) == told(shim)


def test_what_the_policy_forbids_is_not_called(shim: Shim, drive: Drive) -> None:
    """Whatever the model wants."""
    assert drive(graph(shim, level="forbidden")).start({}).values["log"] == ["look_up denied"]


def test_arguments_of_a_model_are_held_against_the_rules(shim: Shim, drive: Drive) -> None:
    """A small model's topic is none of those that are allowed."""
    rule = ArgumentRule(name="topic", values=("zebra",))
    assert drive(graph(shim, level="allowed", arguments=(rule,))).start({}).values["log"] == ["look_up denied"]


def test_a_person_is_asked_about_what_the_model_wants(shim: Shim, drive: Drive) -> None:
    """The activity, entered again, has the model's words from the journal: one request."""
    driven = drive(graph(shim, level="restricted"))
    asked = driven.start({})
    assert driven.answer(asked.asks[0]).values["log"] == ["look_up ok"]
    assert len(shim.asked) == 1
