"""Delegations and what came of them, as values."""

from __future__ import annotations

from typing import Any

import pytest

from stateward import teams
from stateward.teams.delegation import in_words


def result(member: str, *, ok: bool = True, value: Any = "done") -> teams.Result:
    return teams.Result(member=member, task="t", ok=ok, value=value)


def standing(*results: teams.Result) -> teams.Standing:
    return teams.Standing(task="t", results=results, left={}, state={})


def test_a_result_comes_out_of_json_as_it_went_in() -> None:
    """The record of a supervisor keeps nothing else."""
    assert teams.Result.from_json(result("A", value={"n": 1}).to_json()) == result("A", value={"n": 1})


def test_last_is_what_came_of_the_last_visit() -> None:
    """Whether it was an answer or not; None for who was not visited."""
    stands = standing(result("A"), result("B"), result("A", ok=False, value="lost"))
    assert (stands.last("A"), stands.last("C")) == (result("A", ok=False, value="lost"), None)


@pytest.mark.parametrize(
    ("results", "answer"),
    [
        ([result("A", value=1), result("B", ok=False)], 1),
        ([result("A", ok=False, value="lost")], "`A` came to no answer: lost"),
        ([], ""),
    ],
)
def test_the_answer_is_the_last_that_a_member_came_to(results: list[teams.Result], answer: Any) -> None:
    """Where there is none, it says why."""
    assert standing(*results).answer == answer


def test_json_is_read_in_words_and_words_as_they_are() -> None:
    """A model reads no quotes around a text."""
    assert (in_words("Käse"), in_words({"a": "Käse"})) == ("Käse", '{"a": "Käse"}')
