"""A member's visit: what ends it, what ends the run, and what is read of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward import teams
from stateward.errors import DefinitionError
from stateward.govern.policy import Fuses, Policy
from tests.charts.drive import Driven
from tests.charts.team import asked, in_order, led, worker

Drive = Callable[..., Driven]


@sw.tool(effect="pure")
def look() -> str:
    """Look."""
    return "seen"


def looking(name: str, *, times: int, **rest: Any) -> sw.State[Any]:
    """A member that makes calls."""

    async def work(state: Any, run: sw.Run[Any]) -> Any:
        for _ in range(times):
            await run.tool("look")
        return teams.answered(name, "done")

    return sw.State(name, do=work, tools=["look"], **rest)


def calls(limit: int) -> Policy:
    return Policy(name=f"calls {limit}", fuses=Fuses(calls=limit), call_timeout_s=20)


def test_a_fuse_of_a_members_own_ends_its_visit_only(drive: Drive) -> None:
    """The supervisor sees it and sends another."""
    members = [looking("A", times=3, policy=calls(2)), worker("B")]
    graph = led(teams.supervisor("LEAD", members, choose=in_order("A", "B")), box=[look], policy=calls(9))
    done = drive(graph).start(asked())
    first, second = done.values["team"]["LEAD"]["results"]
    assert (done.status, first["ok"], second["ok"]) == ("completed", False, True)
    assert first["value"].startswith("fuse.calls: `calls` in `LEAD.A` is limited to 2")


def test_a_fuse_of_one_member_is_none_of_those_beside_it(drive: Drive) -> None:
    """They make their calls, and only the one whose limit it was has failed."""
    members = [looking("A", times=3, policy=calls(2)), looking("B", times=3)]
    block = teams.supervisor("LEAD", members, choose=in_order(["A", "B"]), parallel=True)
    done = drive(led(block, box=[look], policy=calls(9))).start(asked())
    assert [one["ok"] for one in done.values["team"]["LEAD"]["results"]] == [False, True]


def test_a_fuse_further_out_ends_the_run(drive: Drive) -> None:
    """It is none of the member's: nobody goes on behind it."""
    members = [looking("A", times=3), worker("B")]
    graph = led(teams.supervisor("LEAD", members, choose=in_order("A", "B")), box=[look], policy=calls(2))
    stopped = drive(graph).start(asked())
    assert stopped.reason is not None
    assert (stopped.status, stopped.path, stopped.reason["event"]) == ("halted", "LEAD.A", "fuse.calls")


def test_a_fuse_of_a_supervisor_is_a_failed_visit_of_the_one_above(drive: Drive) -> None:
    """A team that has used up what it may is one member that failed."""
    inner = teams.supervisor("TEAM", [looking("A", times=3)], choose=in_order("A"), policy=calls(2))
    graph = led(teams.supervisor("LEAD", [inner], choose=in_order("TEAM")), box=[look], policy=calls(9))
    (result,) = drive(graph).start(asked()).values["team"]["LEAD"]["results"]
    assert (result["member"], result["ok"]) == ("TEAM", False)


def test_a_member_that_takes_too_long_has_failed_its_visit(drive: Drive) -> None:
    """Its own limit counts, and the others have theirs."""

    async def work(state: Any, run: sw.Run[Any]) -> Any:
        raise AssertionError("the time was over before it began")

    members = [sw.State("A", do=work, timeout_s=0.0001), worker("B")]
    done = drive(led(teams.supervisor("LEAD", members, choose=in_order("A", "B")))).start(asked())
    first, second = done.values["team"]["LEAD"]["results"]
    assert (first["ok"], second["ok"]) == (False, True)


def test_a_member_without_an_answer_says_so(drive: Drive) -> None:
    """An answer of an earlier visit is not taken for one."""
    left = [teams.answered("A", "old"), {}]

    async def work(state: Any) -> Any:
        return left.pop(0)

    done = drive(led(teams.supervisor("LEAD", [sw.State("A", do=work)], choose=in_order("A", "A")))).start(asked())
    values = [one["value"] for one in done.values["team"]["LEAD"]["results"]]
    assert values == ["old", "it ended without an answer"]


def test_a_person_may_be_asked_in_a_member(drive: Drive) -> None:
    """The chart waits in the member, and goes on there with the answer."""
    waits = sw.Superstate(
        "A",
        sw.State("ASK", on=sw.on("yes", "END", do=lambda state: teams.answered("A", "agreed"))),
        sw.Final("END"),
    )
    driven = drive(led(teams.supervisor("LEAD", [waits], choose=in_order("A"))))
    assert driven.start(asked()).path == "LEAD.A.ASK"
    assert driven.resume("yes").values["team"]["LEAD"]["answer"] == "agreed"


@pytest.mark.parametrize("parallel", [False, True])
def test_the_chart_has_nothing_to_find_fault_with(parallel: bool) -> None:
    """A supervisor under a policy with fuses passes the check."""
    block = teams.supervisor("LEAD", [looking("A", times=1), worker("B")], choose=in_order(), parallel=parallel)
    chart = sw.Chart("team", teams.TeamState, teams.placed(block, to="DONE"), sw.Final("DONE"), policy=calls(3))
    assert [str(each) for each in chart.check(tools=[look]) if each.severity != "note"] == []


@pytest.mark.parametrize("returns", [7, int, ["last"]])
def test_a_member_that_returns_nothing_of_the_kinds_is_refused(returns: Any) -> None:
    """When the team is made: what it came to could not be read."""
    with pytest.raises(DefinitionError, match=r"`returns` is .*a Pydantic model"):
        teams.supervisor("LEAD", [teams.Member(worker("A"), returns=returns)], choose=in_order("A"))
