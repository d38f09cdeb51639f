"""Trajectories: what an agent did, as records that a test can compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage

from stateward import teams
from stateward.testing import calls
from tests.charts.drive import Driven
from tests.teams.agents import ask, calculator

Drive = Callable[..., Driven]


def acted(**rest: Any) -> dict[str, Any]:
    """A call as a record."""
    return {"tool": "add", "args": {"a": 1, "b": 2}, "status": "success", "observation": "3", **rest}


def test_every_step_of_a_run_is_a_record(drive: Drive) -> None:
    """Task, action with its calls and observations, answer: plain JSON."""
    reply = calls(("add", {"a": 1, "b": 2}), ("fail", {"why": "no"}), text="I add.")
    values = drive(calculator(reply, "It is 3.")).start(ask()).values
    task, action, answer = (step.to_json() for step in teams.trajectory(values["messages"]))
    assert (task["kind"], task["text"]) == ("task", "1 + 2?")
    assert (action["kind"], action["by"], action["acts"][0]) == ("action", "CALC", acted())
    assert (action["acts"][1]["status"], answer["kind"], answer["text"]) == ("error", "answer", "It is 3.")


def test_a_call_without_an_observation_is_open() -> None:
    """The run stands in the middle of it."""
    (step,) = teams.trajectory([calls(("add", {"a": 1, "b": 2}))])
    assert step.acts[0].status == "open"


def test_two_runs_that_did_the_same_have_the_same_records(drive: Drive) -> None:
    """Ids and times are not in them."""
    one, other = (drive(calculator(calls(("add", {"a": 1, "b": 2})), "3"), session=name).start(ask()) for name in "ab")
    assert teams.trajectory(one.values["messages"]) == teams.trajectory(other.values["messages"])


def test_words_of_the_system_are_no_step() -> None:
    """An empty conversation has none either."""
    assert teams.trajectory([]) == ()
    assert [step.kind for step in teams.trajectory([AIMessage("a")])] == ["answer"]
