"""Members that a supervisor does not see coming: names like others' states, questions nobody answers, odd answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward import ask, teams
from stateward.errors import DefinitionError
from stateward.run.session import Outcome
from stateward.testing import ManualClock
from tests.charts.drive import Driven
from tests.charts.team import asked, in_order, led, voice, worker

Drive = Callable[..., Driven]
LOST = ValueError("lost")


def came(outcome: Outcome, name: str = "LEAD") -> list[tuple[str, bool, Any]]:
    """Member, success and value of each visit."""
    return [(one["member"], one["ok"], one["value"]) for one in outcome.values["team"][name]["results"]]


def test_a_member_named_like_a_state_inside_another_does_not_fail_with_it(drive: Drive) -> None:
    """What concerns a member is told by its place, not by its name alone."""
    inside = sw.Superstate("DIGGER", worker("ACT", LOST, to="END"), sw.Final("END"))
    block = teams.supervisor("LEAD", [inside, worker("ACT")], choose=in_order(["DIGGER", "ACT"]), parallel=True)
    assert came(drive(led(block)).start(asked())) == [
        ("DIGGER", False, "error.activity: lost"),
        ("ACT", True, "ACT is done"),
    ]


@pytest.mark.parametrize("parallel", [False, True])
def test_a_question_that_nobody_answered_in_time_has_failed_the_visit_only(
    drive: Drive, clock: ManualClock, parallel: bool
) -> None:
    """The others' results are kept, and the supervisor sees which question it was."""

    async def put(state: Any, run: sw.Run[Any]) -> Any:
        return teams.answered("A", await run.ask(ask.text("How many?", expires_s=60)))

    members = [sw.State("A", do=put, asks=True), worker("B")]
    order = (["A", "B"],) if parallel else ("A", "B")
    driven = drive(led(teams.supervisor("LEAD", members, choose=in_order(*order), parallel=parallel)))
    assert driven.start(asked()).status == "waiting"
    clock.advance(61)
    assert came(driven.resume()) == [("A", False, "ask.expired: How many?"), ("B", True, "B is done")]


def test_a_team_that_came_to_nothing_has_failed_its_visit(drive: Drive) -> None:
    """The supervisor above is not told that the reasons are an answer."""
    low = teams.supervisor("LOW", [worker("A", LOST)], choose=in_order("A"))
    done = drive(led(teams.supervisor("LEAD", [low], choose=in_order("LOW")))).start(asked())
    assert came(done) == [("LOW", False, "`A` came to no answer: error.activity: lost")]


def test_a_team_that_does_well_the_next_time_has_not_failed(drive: Drive) -> None:
    """Why there was no answer is forgotten when it is entered again."""
    low = teams.supervisor("LOW", [worker("A", LOST, "found")], choose=in_order("A"))
    done = drive(led(teams.supervisor("LEAD", [low], choose=in_order("LOW", "LOW")))).start(asked())
    assert [(ok, value) for _, ok, value in came(done)][1:] == [(True, "found")]


def test_an_answer_that_is_no_json_is_told_in_words(drive: Drive) -> None:
    """A model that chooses is not lost over what a member left."""
    lead = voice(json.dumps({"next": "A"}), json.dumps({"next": "FINISH"}))
    done = drive(led(teams.supervisor("LEAD", [worker("A", {3})], model="lead"), models=lead)).start(asked())
    assert (done.status, 'answered: "{3}"' in lead["lead"].calls[1][-1].text) == ("completed", True)


@pytest.mark.parametrize("said", [None, 7, teams.Delegation("A", task=7)])  # pyright: ignore[reportArgumentType]
def test_a_function_that_chooses_nothing_of_the_kind_is_a_broken_definition(drive: Drive, said: Any) -> None:
    """The error says what a choice is."""
    driven = drive(led(teams.supervisor("LEAD", [worker("A")], choose=lambda standing: said)))
    with pytest.raises(DefinitionError, match=r"LEAD.*teams\.Delegation"):
        driven.start(asked())


def deep(levels: int) -> sw.Superstate[Any]:
    """Teams in teams, beside each other."""
    block: Any = worker("A")
    for level in range(levels):
        block = teams.supervisor(f"L{level}", [block, worker(f"X{level}")], choose=in_order(), parallel=True)
    return block


def test_a_team_prints_in_the_measure_of_its_members() -> None:
    """LangGraph prints what it is given when a chart is compiled: that may not grow tenfold with each level."""
    assert len(repr(deep(4))) < 3 * len(repr(deep(2)))
