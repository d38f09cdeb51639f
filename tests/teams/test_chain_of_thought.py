"""Chains of thought: the steps in their order, and what each came to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

import stateward as sw
from stateward import teams
from stateward.errors import DefinitionError
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.teams.agents import Work, add, alone, ask

Drive = Callable[..., Driven]


class Verdict(BaseModel):
    """The format of a step."""

    holds: bool


def describe(state: Work) -> dict[str, Any]:
    """A step by rules."""
    return {"words": len(teams.task_of(state, "CHAIN").split())}


def found(answer: object) -> dict[str, Any]:
    """Keep an answer under a key of the state."""
    return {"found": {"said": answer}}


async def count(state: Work, run: sw.Run[Any]) -> Any:
    """A step that calls a tool."""
    return (await run.tool("add", a=1, b=2)).value


def chain(*replies: Any, handles: tuple[str, ...] = (), **rest: Any) -> Any:
    """A chain of a rule, a call, and a model."""
    steps = {"DESCRIBE": describe, "COUNT": teams.Worker(count, tools=("add",)), "CONCLUDE": "m"}
    return alone(teams.chain_of_thought("CHAIN", steps, **rest), ScriptedModel.of(*replies), handles=handles)


def test_every_step_is_kept_and_the_last_is_the_answer(drive: Drive) -> None:
    """What each came to is in the record, by its name."""
    record = drive(chain("So be it.")).start(ask("is it so?")).values["team"]["CHAIN"]
    assert record == {
        "thoughts": {"DESCRIBE": {"words": 3}, "COUNT": 3, "CONCLUDE": "So be it."},
        "answer": "So be it.",
    }


def test_every_step_is_a_checkpoint(drive: Drive) -> None:
    """So each can be looked at, and gone back to."""
    driven = drive(chain("So be it."))
    driven.start(ask("is it so?"))
    kept = [list(teams.chain_thoughts(point.values, "CHAIN")) for point in driven.checkpoints[-3:]]
    assert kept == [["DESCRIBE"], ["DESCRIBE", "COUNT"], ["DESCRIBE", "COUNT", "CONCLUDE"]]


def test_a_model_is_told_what_the_steps_before_came_to(drive: Drive) -> None:
    """The task, and each result under the name of its step."""
    model = ScriptedModel.of("one", "two")
    steps: dict[str, Any] = {"FIRST": teams.Worker(model="m", prompt="Look."), "SECOND": "m"}
    drive(alone(teams.chain_of_thought("CHAIN", steps), model)).start(ask("is it so?"))
    assert [message.text for message in model.calls[0]] == ["Look.", "is it so?"]
    assert model.calls[1][1].text == "is it so?\n\nFIRST:\none"


def test_a_step_has_the_format_that_is_asked_for(drive: Drive) -> None:
    """A model is asked in that format; a gate puts it into a key besides."""
    outcome = drive(chain('{"holds": true}', answers={"CONCLUDE": sw.Gate(Verdict, key="found")})).start(ask())
    assert outcome.values["found"] == outcome.values["team"]["CHAIN"]["answer"] == {"holds": True}


def test_a_function_is_held_to_the_format_too(drive: Drive) -> None:
    """What does not fit is an event."""
    outcome = drive(chain(answers={"DESCRIBE": Verdict}, handles=("error.contract",))).start(ask())
    assert outcome.path == "HELP"


def test_a_chain_begins_anew(drive: Drive) -> None:
    """What was thought in the last run is not told in this one."""
    driven = drive(chain("one", "two", output=found))
    driven.start(ask("a"))
    values = driven.start(ask("a b")).values
    assert (values["team"]["CHAIN"]["thoughts"]["DESCRIBE"], values["found"]) == ({"words": 2}, {"said": "two"})


def test_a_model_that_says_nothing_is_told_so(drive: Drive) -> None:
    """The chain goes on."""
    assert drive(chain("")).start(ask()).values["team"]["CHAIN"]["answer"] == "(no answer)"


@pytest.mark.parametrize(
    ("steps", "answers", "told"),
    [
        ({}, {}, "The chain has no step"),
        ({"END": describe}, {}, "`END` is a state of the chain's own"),
        ({"A": describe}, {"B": Verdict}, "a format for `B`, which is no step"),
        ({"A": 3}, {}, "says nobody who could work here"),
    ],
)
def test_a_chain_that_cannot_be_is_refused(steps: Any, answers: Any, told: str) -> None:
    """When the chart is made."""
    with pytest.raises(DefinitionError, match=told):
        teams.chain_of_thought("CHAIN", steps, answers=answers)


def test_what_it_needs_is_registered_once() -> None:
    """A tool of a step is a name, as in any state."""
    block = teams.chain_of_thought("CHAIN", {"COUNT": teams.Worker(count, tools=(add.name,))})
    assert [state.name for state in block.children] == ["BEGIN", "COUNT", "END"]
