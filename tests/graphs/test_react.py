"""`react` (B1): policy step, tools, policy step; unknown tools are observations; it stops when no tool is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, ToolMessage

from graphs.react import build
from stateward.testing import calls
from tests.charts.drive import Driven
from tests.graphs.team import answer, ask, observations, scripted, sent

Make = Callable[..., Driven]


@pytest.fixture
def make(drive: Callable[..., Driven]) -> Make:
    """Drive a session of the graph."""

    def driven(*overrides: str, **options: Any) -> Driven:
        return drive(build(env={}, overrides=overrides, **options))

    return driven


SUM = ("calculate", {"expression": "12 * (3 + 4)"})


def test_rules_decide_without_a_model(make: Make) -> None:
    """What is to be worked out and what is to be looked up are called at once; the answer has both."""
    done = make().start(ask("How much is 12 * (3 + 4), and how do I return goods?"))
    assert (done.status, observations(done)) == ("completed", ["calculate success", "look_up success"])
    assert answer(done).startswith("12 * (3 + 4) = 84. You can return goods within 30 days of delivery")


def test_a_model_decides_acts_and_decides_again(make: Make) -> None:
    """It stops when no tool is asked for."""
    models = scripted(agent=[calls(SUM), "It is 84."])
    driven = make(models=models)
    done = driven.start(ask("12 * (3 + 4)?"))
    assert (done.status, answer(done), observations(done)) == ("completed", "It is 84.", ["calculate success"])
    assert [message.type for message in sent(models, "agent")[1]] == ["system", "human", "ai", "tool"]


@pytest.mark.parametrize("name", ["launch_missiles", "", "calculate ", "cаlculate"])
def test_an_unknown_tool_is_an_observation(make: Make, name: str) -> None:
    """JSON with the reason, marked as an error; the model reads it and goes on."""
    done = make(models=scripted(agent=[calls((name, {})), "I cannot do that."])).start(ask("Do it."))
    (observed,) = [one for one in done.values["messages"] if isinstance(one, ToolMessage)]
    assert (done.status, answer(done), observed.status) == ("completed", "I cannot do that.", "error")
    assert "calculate, look_up" in json.loads(observed.text)["error"]["reason"]


def test_a_tool_that_fails_is_an_observation(make: Make) -> None:
    """A wrong expression, arguments that do not fit, and arguments that a rule refuses."""
    wrong = [{"expression": "two"}, {"sum": 1}, {"expression": "1+" * 120 + "1"}]
    done = make(models=scripted(agent=[calls(*(("calculate", args) for args in wrong)), "No."])).start(ask("?"))
    assert (answer(done), observations(done)) == ("No.", ["calculate error"] * 3)


def test_results_are_kept_in_call_order(make: Make) -> None:
    """Whatever was ready first."""
    done = make(models=scripted(agent=[calls(*(("calculate", {"expression": str(n)}) for n in range(6))), "ok"])).start(
        ask("?")
    )
    assert [one.text for one in done.values["messages"] if isinstance(one, ToolMessage)] == list("012345")


def test_after_the_last_step_comes_the_last_word(make: Make) -> None:
    """Also when it was an observation: the model is asked once more, without tools, and what it says is the answer."""

    def last_word(messages: Any) -> str:
        said: list[BaseMessage] = list(messages)
        return f"After {sum('84' in one.text for one in said)} results: 84."

    models = scripted(agent=[*[calls(SUM)] * 8, last_word])
    done = make(models=models).start(ask("12 * (3 + 4)?"))
    assert (done.status, answer(done)) == ("completed", "After 8 results: 84.")
    assert len(sent(models, "agent")) == 9


def test_rules_and_model_walk_the_same_chart() -> None:
    """Only who decides differs."""
    by_rules, by_model = build(env={}), build(env={}, models=scripted(agent=[]))
    assert by_rules.machine.chart.by_path.keys() == by_model.machine.chart.by_path.keys()


def test_the_policy_binds_the_agent(make: Make) -> None:
    """A call that would pass the fuse is not made, and the run halts with its reason."""
    models = scripted(agent=[calls(SUM, SUM, SUM)])
    halted = make("policy.fuses.calls=2", models=models).start(ask("?"))
    assert (halted.status, (halted.reason or {})["event"]) == ("halted", "fuse.calls")
