"""The records of a team: how they are merged, and what members read and write in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from stateward import teams
from stateward.teams.state import joined


@pytest.mark.parametrize(
    ("new", "merged"),
    [
        ({"B": {"y": 2}}, {"A": {"x": 1, "z": 3}, "B": {"y": 2}}),
        ({"A": {"x": 2}}, {"A": {"x": 2, "z": 3}}),
        ({"A": {"x": None}}, {"A": {"z": 3}}),
        ({"A": None}, {}),
        ({"B": None}, {"A": {"x": 1, "z": 3}}),
    ],
)
def test_records_are_merged_by_name_and_field(new: dict[str, Any], merged: dict[str, Any]) -> None:
    """A field that is None is removed, and so is a record; what was there is left as it is."""
    had = {"A": {"x": 1, "z": 3}}
    assert (teams.by_name(had, new), had) == (merged, {"A": {"x": 1, "z": 3}})


def test_updates_are_put_together_without_losing_records() -> None:
    """Of other keys the last counts; a removal stays one."""
    one = {"n": 1, **teams.recorded("A", x=1)}
    assert joined(one, {"n": 2, **teams.recorded("A", y=None)}, teams.recorded("B", z=3)) == {
        "n": 2,
        "team": {"A": {"x": 1, "y": None}, "B": {"z": 3}},
    }


def test_a_record_that_is_removed_is_removed_in_updates_put_together() -> None:
    """The later update counts."""
    assert joined(teams.recorded("A", x=1), {"team": {"A": None}}) == {"team": {"A": None}}


def test_a_task_comes_before_the_words_of_the_user() -> None:
    """Without one the last human message is the task, and nothing where nobody spoke."""
    state: dict[str, Any] = {"messages": [HumanMessage("first"), HumanMessage("last"), AIMessage("said")]}
    told = {**state, **teams.told("A", "do")}
    assert [teams.task_of(each, "A") for each in (told, state, {})] == ["do", "last", ""]


def test_a_task_that_is_told_forgets_the_last_answer() -> None:
    """An answer is always to the present task."""
    merged = teams.by_name({"A": {"task": "old", "answer": "done"}}, teams.told("A", "new")["team"])
    assert merged == {"A": {"task": "new"}}


def test_an_answer_is_read_as_it_was_left() -> None:
    """Whoever asks needs the name alone; a member that has not answered has none."""
    state = teams.answered("A", {"x": 1})
    assert (teams.answer_of(state, "A"), teams.answer_of(state, "B")) == ({"x": 1}, None)


@dataclass
class Held:
    """A state that is no mapping."""

    team: dict[str, Any] = field(default_factory=dict[str, Any])


def test_records_are_read_of_any_state() -> None:
    """A dataclass does as well as a TypedDict."""
    assert teams.record_of(Held(team={"A": {"x": 1}}), "A") == {"x": 1}
