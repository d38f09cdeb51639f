"""What is told of calls: also of agents and charts inside, redacted, long results left to the journal."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool

import stateward as sw
from stateward import teams
from stateward.events import CallEnded, CallEvent, CallStarted, StateEntered, Token
from stateward.govern.kinds.data import Data
from stateward.govern.policy import Policy, Rule, ToolPolicy
from stateward.governor import Governor
from stateward.run.store.database import Database
from stateward.testing import How, ScriptedModel, calls
from tests.charts.heard import Hear, events, short
from tests.charts.one import compiled
from tests.charts.tools import Shop

SECRET = Policy(name="secret", data=Data(sensitivity="secret"))


@pytest.fixture
def hear(how: How, database: Database) -> Hear:
    """Run a graph and read its events the test's way."""
    return lambda graph, *given: events(sw.Session("s1", graph, database), how, *(given or ({},)))


@tool
def search(query: str) -> str:
    """Search."""
    return f"found {query}"


def agent(*middleware: Any) -> Any:
    model = ScriptedModel.of(calls(("search", {"query": "ann"})), "Done.")
    return create_agent(model, [search], middleware=middleware)


def one_call(name: str, **arguments: Any) -> Any:
    async def act(state: Any, run: sw.Run[Any]) -> dict[str, Any]:
        return {"log": [(await run.tool(name, **arguments)).status]}

    return act


def test_calls_of_a_governed_agent_are_told_under_its_path(hear: Hear) -> None:
    """Its model, its tool, its model again; a tool of LangChain by what it says."""
    told = hear(compiled(agent(Governor(effects={"search": "pure"}))), {"messages": [("user", "Who is Ann?")]})
    of = [event for event in told if isinstance(event, CallEvent | Token)]
    assert short(of) == "(model )model $model (search )search (model token:Done. )model $model"
    assert {event.path for event in of} == {"WORK.ACT/agent"}
    assert [event.result for event in of if isinstance(event, CallEnded)][1] == {"content": "found ann"}


def test_words_of_an_agent_without_a_governor_are_told(hear: Hear) -> None:
    """No door is before its model, and its calls are in no journal."""
    told = hear(compiled(agent()), {"messages": [("user", "Who is Ann?")]})
    (token,) = [event for event in told if isinstance(event, CallEvent | Token)]
    assert token == Token(seq=token.seq, path="WORK.ACT/model", text="Done.")


def test_chart_inside_is_told_under_the_state_around(hear: Hear) -> None:
    """With its moves and its calls."""
    inner = compiled(one_call("lookup", order="A1"), box=Shop().box)
    told = hear(compiled(inner))
    entered = [event.path for event in told if isinstance(event, StateEntered)]
    assert entered == ["WORK", "WORK.ACT", "WORK.ACT/WORK", "WORK.ACT/WORK.ACT", "WORK.ACT/DONE", "DONE"]
    assert {event.path for event in told if isinstance(event, CallEvent)} == {"WORK.ACT/WORK.ACT"}


def test_agent_of_a_team_is_told_by_its_states(hear: Hear) -> None:
    """It is flattened into the chart: what it decides and what it does are states."""
    helper = teams.agent("HELPER", model="voice", tools=["lookup"])
    chart = sw.Chart("team", teams.TeamState, teams.placed(helper, to="DONE"), sw.Final("DONE"))
    model = ScriptedModel.of(calls(("lookup", {"order": "A1"})), "Done.")
    told = hear(chart.compile(tools=Shop().box, models={"voice": model}), {"messages": [("user", "Look.")]})
    of = [event.path for event in told if isinstance(event, CallStarted)]
    assert of == ["HELPER.DECIDE", "HELPER.ACT", "HELPER.DECIDE"]
    assert [event.text for event in told if isinstance(event, Token)] == ["Done."]


def test_denied_call_ends_without_having_begun(hear: Hear) -> None:
    """The reader sees what was tried."""
    policy = Policy(name="none", tools=ToolPolicy(rules=(Rule(match="lookup", level="forbidden"),)))
    told = hear(compiled(one_call("lookup", order="A1"), box=Shop().box, policy=policy))
    (ended,) = [event for event in told if isinstance(event, CallEvent)]
    assert isinstance(ended, CallEnded)
    assert (ended.name, ended.status, ended.duration_s) == ("lookup", "denied", 0.0)


def test_failed_call_says_why(hear: Hear) -> None:
    """As its observation does."""
    told = hear(compiled(one_call("broken", order="A1"), box=Shop().box))
    (ended,) = [event for event in told if isinstance(event, CallEnded)]
    assert (ended.status, ended.result["error"]["reason"]) == ("failed", "ConnectionError: no route")


def test_long_result_is_left_to_the_journal(hear: Hear, database: Database) -> None:
    """The event says that it is there."""

    @sw.tool(effect="pure")
    def long() -> str:
        """Say much."""
        return "x" * 5000

    told = hear(compiled(one_call("long"), box=[long]))
    (ended,) = [event for event in told if isinstance(event, CallEnded)]
    assert (ended.result, ended.left_out) == (None, True)
    kept = database.journal.get(ended.key)
    assert kept is not None
    assert kept.result == "x" * 5000


def test_secrets_are_taken_out(hear: Hear) -> None:
    """Out of arguments and results, as before the log."""
    told = hear(compiled(one_call("lookup", order="AKIAIOSFODNN7EXAMPLE"), box=Shop().box))
    shown = [event.arguments for event in told if isinstance(event, CallStarted)]
    shown += [event.result for event in told if isinstance(event, CallEnded)]
    assert shown == [{"order": "[redacted aws_key]"}] * 2


def test_of_secret_data_no_content_is_told(hear: Hear) -> None:
    """Neither arguments nor results nor words: only that there was a call."""

    @sw.tool(effect="pure", cleared="secret")
    def diagnose(patient: str) -> str:
        """Say what they have."""
        return "a cold"

    told = hear(compiled(one_call("diagnose", patient="ann"), box=[diagnose], policy=SECRET))
    assert [event.arguments for event in told if isinstance(event, CallStarted)] == [None]
    assert [(event.status, event.result) for event in told if isinstance(event, CallEnded)] == [("ok", None)]


def test_of_an_agent_on_secret_data_no_word_is_told(hear: Hear) -> None:
    """Although no door is before it."""
    told = hear(compiled(agent(), policy=SECRET), {"messages": [("user", "Who is Ann?")]})
    assert [event for event in told if isinstance(event, Token)] == []
