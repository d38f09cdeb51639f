"""The contract of a choice: a closed set, read in any form that can only mean one thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stateward import teams
from stateward.govern.contract_schema import json_schema
from stateward.govern.gate import Failed, Passed, check
from stateward.teams.choosing import choice_among
from tests.charts.drive import Driven
from tests.charts.team import asked, in_order, led, worker

Drive = Callable[..., Driven]


def members(parallel: bool, value: Any) -> list[str] | str:
    """Who was chosen, or `no choice`."""
    verdict = check(choice_among(["SEARCH", "WRITE"], parallel=parallel), value=value)
    if isinstance(verdict, Failed):
        return "no choice"
    assert isinstance(verdict, Passed)
    chosen: Any = verdict.value["next"]
    return [each["member"] for each in chosen] if parallel else chosen


@pytest.mark.parametrize(
    ("said", "chosen"),
    [
        ({"next": "SEARCH"}, "SEARCH"),
        ({"next": "`search`", "task": "x", "why": "because"}, "SEARCH"),
        ({"next": "finish"}, "FINISH"),
        ({"next": "SEARCH or WRITE"}, "no choice"),
        ({"next": ["SEARCH"]}, "no choice"),
        ({}, "no choice"),
    ],
)
def test_one_is_chosen_of_a_closed_set(said: Any, chosen: str) -> None:
    """Any letters and what a model adds are read; anything else is no choice."""
    assert members(False, said) == chosen


@pytest.mark.parametrize(
    ("said", "chosen"),
    [
        ({"next": [{"member": "SEARCH", "task": "x"}, {"member": "write"}]}, ["SEARCH", "WRITE"]),
        ({"next": ["SEARCH", "WRITE"]}, ["SEARCH", "WRITE"]),
        ({"next": "FINISH"}, ["FINISH"]),
        ({"next": {"member": "WRITE"}}, ["WRITE"]),
        ({"next": []}, "no choice"),
        ({"next": ["SEARCH", "MALLORY"]}, "no choice"),
        ({"next": ["SEARCH"] * 9}, "no choice"),
    ],
)
def test_several_are_chosen_of_a_closed_set(said: Any, chosen: Any) -> None:
    """A list of delegations, or what can only mean one."""
    assert members(True, said) == chosen


def test_the_provider_is_given_the_closed_set() -> None:
    """The schema is shut and names each choice."""
    schema = json_schema(choice_among(["SEARCH"], parallel=False))
    assert schema["properties"]["next"]["enum"] == ["SEARCH", "FINISH"]
    assert (schema["additionalProperties"], schema["required"]) == (False, ["next", "task", "answer"])


def test_an_async_function_may_choose(drive: Drive) -> None:
    """It is awaited."""

    async def choose(standing: teams.Standing) -> Any:
        return in_order("A")(standing)

    done = drive(led(teams.supervisor("LEAD", [worker("A")], choose=choose))).start(asked())
    assert done.values["team"]["LEAD"]["answer"] == "A is done"


def test_a_function_that_names_who_has_no_visits_left_falls_back(drive: Drive) -> None:
    """The record says so."""
    block = teams.supervisor("LEAD", [worker("A"), worker("B")], choose=lambda standing: "A", max_visits=1)
    record = drive(led(block)).start(asked()).values["team"]["LEAD"]
    assert (record["visits"], record["problem"]) == ({"A": 1}, "`A` has no visits left")
