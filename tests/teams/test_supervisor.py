"""A supervisor: a closed set of choices, bounded visits, task texts, and members that fail on their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

import stateward as sw
from stateward import teams
from stateward.errors import DefinitionError
from stateward.run.session import Outcome
from tests.charts.drive import Driven
from tests.charts.team import asked, in_order, led, voice, worker

Drive = Callable[..., Driven]


def says(**choice: Any) -> str:
    """A choice as a model writes it."""
    return json.dumps(choice)


def results(outcome: Outcome, name: str = "LEAD") -> list[tuple[str, bool, Any]]:
    """Member, success and value of each visit, in order."""
    return [(one["member"], one["ok"], one["value"]) for one in outcome.values["team"][name]["results"]]


def answer(outcome: Outcome, name: str = "LEAD") -> Any:
    return outcome.values["team"][name]["answer"]


# -- one after the other --------------------------------------------------------------------------------------


def test_members_work_in_the_order_that_the_model_chooses(drive: Drive) -> None:
    """Each choice is one call, and FINISH ends the work with the answer."""
    lead = voice(
        says(next="B", task="first"), says(next="A", task="second"), says(next="FINISH", task="", answer="both")
    )
    done = drive(led(teams.supervisor("LEAD", [worker("A"), worker("B")], model="lead"), models=lead)).start(asked())
    assert (done.status, answer(done)) == ("completed", "both")
    assert results(done) == [("B", True, "B is done"), ("A", True, "A is done")]


def test_a_member_is_told_its_task_and_no_history(drive: Drive) -> None:
    """The text of the delegation is all there is; where the model gives none it is the supervisor's own task."""
    heard: list[str] = []

    async def work(state: Any) -> Any:
        heard.append(teams.task_of(state, "A"))
        return teams.answered("A", "done")

    lead = voice(says(next="A", task="count boxes"), says(next="A"), says(next="FINISH"))
    drive(led(teams.supervisor("LEAD", [sw.State("A", do=work)], model="lead"), models=lead)).start(asked())
    assert heard == ["count boxes", "Sell boxes"]


def test_the_model_is_shown_task_results_and_who_may_be_visited(drive: Drive) -> None:
    """And nothing of the members' own conversations."""
    lead = voice(says(next="A", task="count"), says(next="FINISH"))
    member = teams.Member(worker("A"), about="counts things")
    drive(led(teams.supervisor("LEAD", [member], model="lead", prompt="Be brief."), models=lead)).start(asked())
    system, human = lead["lead"].calls[1][-2:]
    assert system.text.startswith("Be brief.")
    assert "- A (2 visits left): counts things" in system.text
    assert human.text == "Task: Sell boxes\n\n1. A, told: count\nanswered: A is done"


def test_a_function_may_choose(drive: Drive) -> None:
    """By rules no model is asked, and the last answer is the supervisor's."""
    block = teams.supervisor("LEAD", [worker("A"), worker("B")], choose=in_order("A", "B"))
    done = drive(led(block)).start(asked())
    assert (done.status, answer(done)) == ("completed", "B is done")


def test_a_function_may_finish_with_an_answer_of_its_own(drive: Drive) -> None:
    """It is plain JSON of any kind."""
    block = teams.supervisor("LEAD", [worker("A")], choose=lambda standing: teams.Finish({"boxes": 3}))
    assert answer(drive(led(block)).start(asked())) == {"boxes": 3}


def test_what_becomes_of_the_answer_is_the_authors(drive: Drive) -> None:
    """`output` writes it into other keys of the state as well."""
    block = teams.supervisor(
        "LEAD", [worker("A")], choose=in_order("A"), output=lambda said: {"messages": [("ai", said)]}
    )
    assert drive(led(block)).start(asked()).values["messages"][-1].text == "A is done"


# -- a closed set ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["", "I do not know", says(next="MALLORY", task="x"), says(next=7), "[1, 2"])
def test_what_is_no_choice_is_asked_again_and_then_finishes(drive: Drive, said: str) -> None:
    """One call by schema, then `1 + retries` in words; nobody works, and the record says why."""
    lead = voice(*[said] * 4)
    done = drive(led(teams.supervisor("LEAD", [worker("A")], model="lead"), models=lead)).start(asked())
    assert (done.status, len(lead["lead"].calls), results(done)) == ("completed", 4, [])
    assert "no answer that could be read" in done.values["team"]["LEAD"]["problem"]


def test_a_choice_that_is_none_may_fall_back_on_a_member(drive: Drive) -> None:
    """As long as that member has visits left."""
    lead = voice(*["?"] * 4)
    block = teams.supervisor("LEAD", [worker("A")], model="lead", retries=0, fallback="A", max_visits=2)
    done = drive(led(block, models=lead)).start(asked())
    assert (len(lead["lead"].calls), len(results(done))) == (4, 2)


def test_names_are_read_in_any_letters(drive: Drive) -> None:
    """Small models write them as they like."""
    lead = voice(says(next=" `a`. ", task="x"), says(next="finish"))
    done = drive(led(teams.supervisor("LEAD", [worker("A")], model="lead"), models=lead)).start(asked())
    assert [name for name, _, _ in results(done)] == ["A"]


def test_a_function_that_names_a_stranger_is_a_broken_definition(drive: Drive) -> None:
    """The error names the members."""
    driven = drive(led(teams.supervisor("LEAD", [worker("A")], choose=lambda standing: "MALLORY")))
    with pytest.raises(DefinitionError, match=r"`MALLORY`, who is no member.*Members: A"):
        driven.start(asked())


# -- visits ---------------------------------------------------------------------------------------------------


def test_a_member_without_visits_left_is_no_choice_any_more(drive: Drive) -> None:
    """The model is held to the others; its wish for that one is no choice."""
    lead = voice(says(next="A"), says(next="A"), says(next="B"), says(next="FINISH"))
    members = [teams.Member(worker("A"), max_visits=1), worker("B")]
    done = drive(led(teams.supervisor("LEAD", members, model="lead"), models=lead)).start(asked())
    assert [name for name, _, _ in results(done)] == ["A", "B"]
    assert "- A" not in lead["lead"].calls[1][-2].text


def test_when_no_visits_are_left_no_model_is_asked(drive: Drive) -> None:
    """The work is finished with the last answer."""
    lead = voice(*[says(next="A")] * 9)
    block = teams.supervisor("LEAD", [worker("A"), worker("B")], model="lead", max_visits=9, max_in_all=3)
    done = drive(led(block, models=lead)).start(asked())
    assert (done.status, len(results(done)), len(lead["lead"].calls)) == ("completed", 3, 3)


def test_a_new_run_counts_visits_anew(drive: Drive) -> None:
    """What an earlier run came to is no result of this one."""
    driven = drive(led(teams.supervisor("LEAD", [worker("A")], choose=in_order("A"), max_visits=1)))
    assert results(driven.start(asked())) == results(driven.start(asked())) == [("A", True, "A is done")]


# -- what members return --------------------------------------------------------------------------------------


class Count(BaseModel):
    """What a member must return."""

    boxes: int


@pytest.mark.parametrize(
    ("said", "ok", "value"),
    [
        ('Well: {"boxes": 3}', True, {"boxes": 3}),
        ({"boxes": "4"}, True, {"boxes": 4}),
        ("three", False, "its answer does not fit `Count`: the whole: expected valid JSON"),
    ],
)
def test_an_answer_is_held_against_its_contract(drive: Drive, said: Any, ok: bool, value: Any) -> None:
    """What does not fit is a failed visit, with the reason."""
    block = teams.supervisor("LEAD", [worker("A", said)], choose=in_order("A"), returns=Count)
    ((_, came, got),) = results(drive(led(block)).start(asked()))
    assert came is ok
    assert got == value or str(got).startswith(str(value))


def test_all_of_a_members_conversation_may_be_returned(drive: Drive) -> None:
    """It is shown to who chooses; the record keeps the answer, so that nothing is written twice."""
    shown: list[Any] = []

    def choose(standing: teams.Standing) -> str:
        shown.extend(result.value for result in standing.results)
        return teams.FINISH if standing.results else "A"

    member = teams.Member(worker("A"), returns="full", conversation="messages")
    done = drive(led(teams.supervisor("LEAD", [member], choose=choose))).start(asked())
    assert shown == [[{"role": "human", "text": "Sell boxes"}]]
    assert (results(done), answer(done)) == ([("A", True, "A is done")], "A is done")


# -- members that fail ----------------------------------------------------------------------------------------


def test_a_member_that_raises_has_failed_its_visit_only(drive: Drive) -> None:
    """The supervisor sees why, and may send it again."""
    block = teams.supervisor("LEAD", [worker("A", ValueError("lost"), "found")], choose=in_order("A", "A"))
    done = drive(led(block)).start(asked())
    assert results(done) == [("A", False, "error.activity: lost"), ("A", True, "found")]


def test_where_nobody_came_to_an_answer_the_answer_says_so(drive: Drive) -> None:
    """The run ends well."""
    done = drive(led(teams.supervisor("LEAD", [worker("A", ValueError("lost"))], choose=in_order("A")))).start(asked())
    assert (done.status, answer(done)) == ("completed", "`A` came to no answer: error.activity: lost")


def test_a_broken_definition_is_no_failed_visit(drive: Drive) -> None:
    """A member whose model nobody configured ends the run, and the error says what to do."""

    async def work(state: Any, run: sw.Run[Any]) -> Any:
        await run.model().ainvoke("hello")

    driven = drive(led(teams.supervisor("LEAD", [sw.State("A", do=work, model="nobody")], choose=in_order("A"))))
    with pytest.raises(DefinitionError, match="`nobody`"):
        driven.start(asked())


# -- definitions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "by a model or by a function"),
        ({"model": "lead", "choose": in_order()}, "by a model or by a function"),
        ({"model": "lead", "members": []}, "without members"),
        ({"model": "lead", "members": ["A"]}, "`'A'` is no block"),
        ({"model": "lead", "members": [sw.Final("A")]}, "is no block"),
        ({"model": "lead", "members": [worker("LEAD")]}, "`LEAD` is taken"),
        ({"model": "lead", "members": [worker("A"), worker("A")]}, "`A` is taken"),
        ({"model": "lead", "members": [worker("FINISH")]}, "`FINISH` is taken"),
        ({"model": "lead", "members": [worker("A", to="B")]}, "`to` of its own"),
        ({"model": "lead", "fallback": "MALLORY"}, "`MALLORY` is no member"),
        ({"model": "lead", "max_visits": 0}, "`max_visits` is 0"),
        ({"model": "lead", "max_in_all": 0}, "`max_in_all` is 0"),
        ({"model": "lead", "returns": "full"}, "nobody said where"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_made(given: dict[str, Any], message: str) -> None:
    """Each error says where it is and what to do."""
    members = given.pop("members", [worker("A")])
    with pytest.raises(DefinitionError, match=message):
        teams.supervisor("LEAD", members, **given)
