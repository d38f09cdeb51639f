"""ReAct over the shared conversation."""

from __future__ import annotations

from collections.abc import Callable

from stateward import teams
from stateward.testing import ScriptedModel, calls
from tests.charts.drive import Driven
from tests.teams.agents import TOOLS, alone, ask, said

Drive = Callable[..., Driven]


def test_it_stops_when_no_tool_is_asked_for(drive: Drive) -> None:
    """Policy step, tools, policy step: the user sees all of it."""
    model = ScriptedModel.of(calls(("add", {"a": 1, "b": 2})), "It is 3.")
    outcome = drive(alone(teams.react("REACT", model="m", tools=TOOLS), model)).start(ask())
    assert [kind for kind, _ in said(outcome.values)] == ["human", "ai", "tool", "ai"]
