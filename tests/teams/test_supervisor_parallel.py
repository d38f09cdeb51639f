"""Members beside each other: each comes to its own end, and the next choice sees what came of all (HAZARDS 18)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward import teams
from stateward.run.session import Outcome
from tests.charts.drive import Driven
from tests.charts.replayed import same
from tests.charts.team import asked, in_order, led, voice, worker

Drive = Callable[..., Driven]
BOTH = in_order(["A", "B"])


def came(outcome: Outcome, name: str = "LEAD") -> list[tuple[str, bool, Any]]:
    """Member, success and value of each visit."""
    return [(one["member"], one["ok"], one["value"]) for one in outcome.values["team"][name]["results"]]


def both(choose: Any, *members: Any, **rest: Any) -> sw.Superstate[Any]:
    return teams.supervisor("LEAD", members, choose=choose, parallel=True, **rest)


def once(standing: teams.Standing) -> Any:
    """Send everybody once."""
    return teams.FINISH if standing.results else list(standing.left)


def waiting(name: str, *, ends: list[str], before: int) -> sw.State[Any]:
    """A member that ends when so many others have ended."""

    async def work(state: Any) -> Any:
        while len(ends) < before:
            await asyncio.sleep(0)
        ends.append(name)
        return teams.answered(name, f"{name} is done")

    return sw.State(name, do=work)


def test_members_work_beside_each_other_and_results_stand_in_their_order(drive: Drive) -> None:
    """The first waits for the second, and is first among the results all the same."""
    ends: list[str] = []
    done = drive(led(both(once, waiting("A", ends=ends, before=1), waiting("B", ends=ends, before=0)))).start(asked())
    assert (ends, came(done)) == (["B", "A"], [("A", True, "A is done"), ("B", True, "B is done")])


def test_a_member_that_fails_does_not_lose_the_results_of_the_others(drive: Drive) -> None:
    """Its siblings go on to their ends, and what it failed with is a result like theirs."""
    ends: list[str] = []

    async def fail(state: Any) -> Any:
        ends.append("A")
        raise ValueError("lost")

    done = drive(led(both(once, sw.State("A", do=fail), waiting("B", ends=ends, before=1), worker("C")))).start(asked())
    assert done.status == "completed"
    assert came(done) == [("A", False, "error.activity: lost"), ("B", True, "B is done"), ("C", True, "C is done")]


def test_members_that_fail_together_have_each_its_own_reason(drive: Drive) -> None:
    """An error in one region is none of the others'."""
    done = drive(led(both(once, worker("A", ValueError("a")), worker("B", ValueError("b")), worker("C")))).start(
        asked()
    )
    assert [value for _, _, value in came(done)] == ["error.activity: a", "error.activity: b", "C is done"]


def test_who_is_not_chosen_does_not_work(drive: Drive) -> None:
    """The join waits for the others only."""
    done = drive(led(both(in_order("B"), worker("A", ValueError("never")), worker("B")))).start(asked())
    assert came(done) == [("B", True, "B is done")]


def test_a_model_gives_each_its_task(drive: Drive) -> None:
    """Somebody named twice works once, on the first task."""
    several = [{"member": "A", "task": "one"}, {"member": "B", "task": "two"}, {"member": "A", "task": "three"}]
    lead = voice(json.dumps({"next": several}), json.dumps({"next": "FINISH", "answer": "all"}))
    block = teams.supervisor("LEAD", [worker("A"), worker("B")], model="lead", parallel=True)
    record = drive(led(block, models=lead)).start(asked()).values["team"]["LEAD"]
    assert [(one["member"], one["task"]) for one in record["results"]] == [("A", "one"), ("B", "two")]


def test_no_more_are_sent_than_visits_are_left_in_all(drive: Drive) -> None:
    """The first of those chosen go."""
    done = drive(led(both(once, worker("A"), worker("B"), worker("C"), max_in_all=2))).start(asked())
    assert [member for member, _, _ in came(done)] == ["A", "B"]


def test_supervisors_work_beside_each_other_at_any_depth(drive: Drive) -> None:
    """A team of teams: one member of an inner team fails, and nothing else does."""
    left = teams.supervisor("LEFT", [worker("A", ValueError("lost")), worker("B")], choose=once, parallel=True)
    right = teams.supervisor("RIGHT", [worker("C"), worker("D")], choose=in_order("C", "D"))
    done = drive(led(both(once, left, right))).start(asked())
    assert came(done) == [("LEFT", True, "B is done"), ("RIGHT", True, "D is done")]
    assert came(done, "LEFT") == [("A", False, "error.activity: lost"), ("B", True, "B is done")]


@pytest.mark.parametrize("first", ["A", "B"])
def test_whoever_ends_first_the_results_are_the_same(drive: Drive, first: str) -> None:
    """What is committed does not depend on the timing."""
    ends: list[str] = []
    members = [waiting(name, ends=ends, before=int(name != first)) for name in ("A", "B")]
    done = drive(led(both(once, *members))).start(asked())
    assert (ends[0], [member for member, _, _ in came(done)]) == (first, ["A", "B"])


def test_a_run_is_played_again_as_it_was(drive: Drive) -> None:
    """Failures and fallbacks included."""
    lead = voice(json.dumps({"next": ["A", "B"]}), *["?"] * 4)
    block = teams.supervisor("LEAD", [worker("A"), worker("B", ValueError("b"))], model="lead", parallel=True)
    driven = drive(led(block, models=lead))
    assert driven.start(asked()).status == "completed"
    assert same(driven)


def test_a_member_may_have_regions_of_its_own(drive: Drive) -> None:
    """Any element may be a member."""
    regions = sw.Parallel("A", sw.Superstate("L", worker("B", to="END"), sw.Final("END")))
    done = drive(led(both(once, regions, worker("C")))).start(asked())
    assert came(done) == [("A", False, "it ended without an answer"), ("C", True, "C is done")]
