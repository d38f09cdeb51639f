"""What drawings say of policies."""

from __future__ import annotations

from stateward.chart.compiler import build
from stateward.chart.note import Note
from stateward.chart.state import State, Superstate
from stateward.govern.effective import effective
from stateward.govern.note import notes
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy

CAREFUL = Policy(
    name="careful",
    fuses=Fuses(usd=0.5, turns=12),
    tools=ToolPolicy(rules=(Rule(match="pay", level="restricted"), Rule(match="look", level="allowed", max_calls=3))),
)
CHART = build("one", [Superstate("WORK", State("PAY", do=len, tools=["pay", "look"], to="REST"), State("REST", on=()))])


def test_fuses_stand_where_they_hang_and_asks_where_a_tool_needs_them() -> None:
    """Once each, however many states share them; counts of single tools are left out."""
    shared = {i: effective([("WORK", CAREFUL)], path=CHART.nodes[i].path, tools=["pay", "look"]) for i in (1, 2, 3)}
    assert notes(CHART, shared) == {
        "WORK": (Note("fuse turns 12", "fuse"), Note("fuse usd 0.5", "fuse")),
        "WORK.PAY": (Note("asks before pay", "ask"),),
    }


def test_without_policies_there_is_nothing_to_say() -> None:
    """Not even an empty note."""
    assert notes(CHART, {i: effective([], path=CHART.nodes[i].path) for i in (1, 2, 3)}) == {}


def test_a_state_that_asks_people_says_so() -> None:
    """Whatever its policies are."""
    chart = build("one", [State("ASK", do=len, asks=True)])
    assert notes(chart, {1: effective([], path="ASK")}) == {"ASK": (Note("asks people", "ask"),)}
