"""The block that proposes so many options and lets a judge pick one, whatever proposer and judge say."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

import stateward as sw
from stateward import teams
from stateward.errors import DefinitionError
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.teams.plans import says

NAME = "IDEAS"
Drive = Callable[..., Driven]


class Colour(BaseModel):
    """An option of the author's own."""

    name: str


def colours(*names: str) -> list[dict[str, str]]:
    return [{"name": name} for name in names]


def proposed(*names: str) -> str:
    return json.dumps({"options": colours(*names)})


def thinking(*, models: Any = None, **block: Any) -> sw.ChartGraph:
    """Compile a chart of the block alone."""
    given: dict[str, Any] = {"propose": says(colours("red", "green", "blue")), "judge": says(1), **block}
    made = teams.tree_of_thoughts(NAME, option=Colour, **given)
    chart = sw.Chart("thinking", teams.TeamState, teams.placed(made, to="DONE"), sw.Final("DONE"))
    return chart.compile(models=models or {})


def came(driven: Driven) -> teams.Thoughts:
    outcome = driven.start({"messages": [("user", "Which colour?")]})
    assert (outcome.status, outcome.path) == ("completed", "DONE")
    return teams.thoughts_of(outcome.values, NAME)


def test_the_judge_picks_one_of_the_options(drive: Drive) -> None:
    """Options, choice and reason stay in the record."""
    thoughts = came(drive(thinking(judge=says((1, "calm")))))
    assert thoughts.options == tuple(colours("red", "green", "blue"))
    assert (thoughts.choice, thoughts.chosen, thoughts.reason) == (1, {"name": "green"}, "calm")


def test_the_choice_is_the_blocks_answer(drive: Drive) -> None:
    """So that the block can be a member."""
    outcome = drive(thinking()).start({"messages": [("user", "Which?")]})
    assert teams.answer_of(outcome.values, NAME) == {"name": "green"}


@pytest.mark.parametrize(
    ("said", "index"),
    [(-1, 0), (0, 0), (2, 2), (3, 2), (2**2000, 2), ("1", 1), (1.9, 1), (float("inf"), 2), ({"index": 9}, 2)],
    ids=range(9),
)
def test_an_index_is_brought_into_the_range(drive: Drive, said: Any, index: int) -> None:
    """Whatever number the judge names."""
    assert came(drive(thinking(judge=says(said)))).choice == index


@pytest.mark.parametrize("said", [None, "the second", float("nan"), [1], (None, "none is good")])
def test_without_an_index_the_first_is_taken(drive: Drive, said: Any) -> None:
    """The reason says so."""
    thoughts = came(drive(thinking(judge=says(said))))
    assert (thoughts.choice, thoughts.reason.startswith("the first, for ")) == (0, True)


def test_a_proposer_is_sent_back_until_there_are_so_many(drive: Drive) -> None:
    """It is told what is wrong, and what fits is taken."""
    told: list[str] = []

    def propose(run: sw.SyncRun) -> Any:
        told.append(run.feedback)
        return [Colour(name=name) for name in ("red", "green", "blue")[: run.attempt + 1]]

    assert len(came(drive(thinking(propose=propose))).options) == 3
    assert "a list with at least 3 items" in told[1]


def test_proposals_that_never_fit_end_without_a_choice(drive: Drive) -> None:
    """The record says why."""
    thoughts = came(drive(thinking(propose=says(colours("red")), retries=1)))
    assert (thoughts.options, thoughts.choice, thoughts.chosen) == ((), None, None)
    assert "at least 3 items" in thoughts.problem


def test_rules_propose_when_a_model_cannot(drive: Drive) -> None:
    """After the bounded number of its calls; the judge picks among what the rules say."""
    block = thinking(
        propose="small",
        otherwise=says(colours("grey", "black", "white")),
        models={"small": ScriptedModel.of(proposed("red"), proposed(), "no")},
        retries=1,
    )
    thoughts = came(drive(block))
    assert (thoughts.chosen, "No output fits" in thoughts.problem) == ({"name": "black"}, True)


def test_a_scripted_run_of_models_comes_out_exactly(drive: Drive) -> None:
    """Two options first, then three; the stronger model names one that is not there."""
    models = {
        "small": ScriptedModel.of(proposed("red", "green"), proposed("red", "green", "blue")),
        "strong": ScriptedModel.of(json.dumps({"index": 5, "reason": "deep"})),
    }
    thoughts = came(drive(thinking(propose="small", judge="strong", models=models)))
    assert (thoughts.choice, thoughts.chosen, thoughts.reason) == (2, {"name": "blue"}, "deep")
    assert models["strong"].calls[0][1].text.endswith('1: {"name": "green"}\n2: {"name": "blue"}')


def test_a_judge_that_cannot_be_read_picks_the_first(drive: Drive) -> None:
    """After a bounded number of calls."""
    models = {"strong": ScriptedModel.of(*["The blue one!"] * 3)}
    assert came(drive(thinking(judge="strong", models=models, retries=1))).choice == 0


@pytest.mark.parametrize("said", ['{"index": 2}', '{"index": "2", "reason": null}', '{"index": 2, "reason": 7}'])
def test_a_judge_without_a_reason_is_heard_all_the_same(drive: Drive, said: str) -> None:
    """The index is the choice; one call is enough."""
    strong = ScriptedModel.of(said)
    assert (came(drive(thinking(judge="strong", models={"strong": strong}))).choice, len(strong.calls)) == (2, 1)


def test_another_round_begins_at_the_choice_before(drive: Drive) -> None:
    """The path holds what was picked, round by round, and the proposer is told."""
    models = {"m": ScriptedModel.of(proposed("red", "green"), proposed("lime", "olive"))}
    thoughts = came(drive(thinking(propose="m", options=2, depth=2, models=models)))
    assert thoughts.path == ({"name": "green"}, {"name": "olive"})
    assert 'Decided so far:\n- {"name": "green"}' in models["m"].calls[1][-1].text


def test_another_run_begins_anew(drive: Drive) -> None:
    """Nothing of the run before is in the record."""
    driven = drive(thinking())
    came(driven)
    assert came(driven).path == ({"name": "green"},)


RUBBISH = ("", "{", "null", "[1]", '{"index": "x"}', '{"index": -7, "reason": "r"}', proposed(), proposed(*"abcd"))


@pytest.mark.parametrize("seed", range(25))
def test_it_ends_whatever_models_say(seed: int, drive: Drive) -> None:
    """With exactly so many options and a choice among them, or without any."""
    chance = random.Random(seed)
    said = [chance.choice((*RUBBISH, proposed(*"abc"), '{"index": 9, "reason": "r"}')) for _ in range(40)]
    thoughts = came(drive(thinking(propose="m", judge="m", models={"m": ScriptedModel.of(*said)})))
    assert (len(thoughts.options), thoughts.choice) in [(0, None), (3, 0), (3, 2)]


@pytest.mark.parametrize("wrong", [{"options": 0}, {"depth": 0}, {"retries": -1}, {"propose": 3}, {"judge": ""}])
def test_what_cannot_work_is_a_definition_error(wrong: dict[str, Any]) -> None:
    """It is said when the block is made."""
    with pytest.raises(DefinitionError):
        thinking(**wrong)
