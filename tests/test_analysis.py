"""The analysis of a whole chart: what a chart's schema, tools and activities add to it."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field
from typing_extensions import TypedDict

import stateward as sw
from stateward.analysis import analyse, facts_of
from stateward.chart.finding import RULES
from stateward.errors import PolicyLoosened
from stateward.govern.policy import Data, Fuses, Policy
from stateward.properties import eventually, never
from stateward.testing import ScriptedModel
from tests.charts.working import working


class Board(TypedDict, total=False):
    """The state of two regions."""

    sum: Annotated[int, operator.add]
    log: Annotated[list[str], operator.add]
    best: str


class Best(TypedDict, total=False):
    """What both regions write."""

    sum: int
    best: str


async def judge(state: Board) -> Best:
    return {"sum": 1, "best": "me"}


def tell(state: Board) -> sw.Update[Board]:
    return {"log": ["told"]}


def has_more(state: Board) -> bool:
    return state.get("sum", 0) < 3


def board(left: Any, right: Any, **given: Any) -> sw.Chart[Board]:
    """Return a chart of two regions with these activities."""
    regions = [
        sw.Superstate(name, sw.State("DO", do=do, to="END"), sw.Final("END"))
        for name, do in (("L", left), ("R", right))
    ]
    return sw.Chart("board", Board, sw.Parallel("P", *regions, to="DONE"), sw.Final("DONE"), **given)


def rules(chart: sw.Chart[Any], *stated: Any, **known: Any) -> list[tuple[str, str]]:
    """Return rule and severity of each finding."""
    return [(finding.rule, finding.severity) for finding in chart.check(*stated, **known)]


def test_keys_that_both_regions_write_are_found_by_their_types() -> None:
    """`best` has no reducer; numbers that are added up do not mind the order."""
    (finding,) = [finding for finding in board(judge, judge).check() if finding.rule == "timing"]
    assert finding.severity == "warning"
    assert "`best`: the last write wins" in finding.message
    assert "`sum`" not in finding.message


def test_an_update_of_any_key_is_told() -> None:
    """`sw.Update[Board]` does not say which."""
    assert ("timing", "note") in rules(board(tell, tell))


def test_properties_of_the_chart_and_of_the_call_are_proven() -> None:
    """The report says which hold, errors come first among the findings."""
    chart = board(tell, tell, properties=[eventually("DONE")])
    report = chart.analyse(never("DONE"))
    assert [(proof.property, proof.holds) for proof in report.proofs] == [
        ("eventually('DONE')", True),
        ("never('DONE')", False),
    ]
    assert report.findings[0].rule == "property"
    assert (report.states, report.exact) == (8, True)


def test_properties_go_with_the_compiled_graph() -> None:
    """So that the command line proves them as well."""
    chart = sw.Chart("one", Board, sw.State("A", do=tell, to="B"), sw.Final("B"), properties=[eventually("B")])
    assert chart.compile().machine.properties == (eventually("B"),)


def test_effects_are_known_of_tools_that_are_given() -> None:
    """A tool that must not run twice, in a loop that a fuse bounds."""

    @sw.tool(effect="once")
    def pay(amount: float) -> str:
        """Pay."""
        return "paid"

    state = sw.State("A", do=tell, tools=["pay"], to=[sw.when(has_more, "A"), "B"])
    policy = Policy(name="p", fuses=Fuses(calls=3), call_timeout_s=1)
    chart = sw.Chart("loop", Board, state, sw.Final("B"), policy=policy)
    assert rules(chart) == []
    assert rules(chart, tools=[pay]) == [("repeated-effect", "warning")]


def test_the_most_of_an_argument_is_read_from_its_schema() -> None:
    """Numbers only, optional ones too."""

    @sw.tool(effect="pure")
    def pay(
        amount: Annotated[float, Field(le=200)],
        times: Annotated[int, Field(lt=5)] | None = None,
        rate: float = 1.0,
        to: str = "",
    ) -> str:
        """Pay."""
        return to

    assert facts_of(pay).most == {"amount": 200, "times": 5, "rate": None}


def test_an_activity_that_waits_without_a_limit_is_noted() -> None:
    """The async one only: a plain function cannot be stopped anyway."""
    findings = [finding for finding in working().check() if finding.rule == "no-timeout"]
    assert [(finding.path, finding.severity) for finding in findings] == [("WORKING.PLAN", "note")]


def test_a_loosened_policy_is_refused_as_when_compiling() -> None:
    """The analysis stands on effective policies."""
    inner = sw.State("A", do=tell, to="B", policy=Policy(name="in", fuses=Fuses(calls=9)))
    chart = sw.Chart("loose", Board, inner, sw.Final("B"), policy=Policy(name="out", fuses=Fuses(calls=3)))
    with pytest.raises(PolicyLoosened, match="9"):
        chart.check()


def test_every_rule_is_documented() -> None:
    """docs/analysis.md has a line for each."""
    text = (Path(__file__).parents[1] / "docs" / "analysis.md").read_text(encoding="utf-8")
    assert [rule for rule in RULES if f"| `{rule}` |" not in text] == []


def test_clearance_is_known_of_models_that_are_given() -> None:
    """`stateward check` gives those of the compiled graph."""
    policy = Policy(name="p", data=Data(sensitivity="personal"))
    chart = sw.Chart("talk", Board, sw.State("ASK", do=tell, model="m", to="END"), sw.Final("END"), policy=policy)
    machine = chart.compile(models={"m": ScriptedModel.of()}).machine
    report = analyse(machine.chart, schema=Board, effectives=machine.effectives, tools={}, models=machine.roles)
    assert [each.path for each in report.findings if each.rule == "not-cleared"] == ["ASK"]
