"""What is found in a chart under its policies before any run."""

from __future__ import annotations

from typing import Any

from stateward.chart.finding import Finding
from stateward.chart.state import Final, State, Superstate
from stateward.chart.transition import on, when
from stateward.govern.check import governance
from stateward.govern.ground import ToolFacts, fuses
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from tests.govern.grounds import ground, work

RESTRICTED = Policy(name="strict", tools=ToolPolicy(rules=(Rule(match="pay", level="restricted"),)), call_timeout_s=9)
ALLOWED = Policy(name="loose", tools=ToolPolicy(rules=(Rule(match="pay", level="allowed"),)), call_timeout_s=9)
FUSED = Policy(name="fused", fuses=Fuses(calls=5), call_timeout_s=9)
TIMED = Policy(name="timed", call_timeout_s=9)


def again(state: Any) -> bool:
    """Tell whether there is more to do."""
    return True


def found(*states: Any, **known: Any) -> list[tuple[str, str, str]]:
    """Return rule, severity and path of each finding."""
    return [(each.rule, each.severity, each.path) for each in governance(ground(states, **known))]


def looping(policy: Policy | None, **declared: Any) -> Superstate[Any]:
    """Return a superstate whose one activity may follow itself for ever."""
    return Superstate("S", State("A", do=work, to=[when(again, "A"), "DONE"], **declared), policy=policy)


def test_calls_in_a_circle_need_a_fuse() -> None:
    """A fuse on calls bounds tools, one on turns or money a model; a tool's own count does not end the circle."""
    assert found(looping(TIMED, tools=["pay"]), Final("DONE")) == [("unbounded-cycle", "error", "S.A")]
    assert found(looping(FUSED, tools=["pay"]), Final("DONE")) == []
    assert found(looping(FUSED, model="m"), Final("DONE")) == [("unbounded-cycle", "error", "S.A")]
    turns = Policy(name="turns", fuses=Fuses(turns=5), call_timeout_s=9)
    assert found(looping(turns, model="m"), Final("DONE")) == []


def test_a_circle_is_shown_with_the_way_to_it() -> None:
    """From the start, and once round."""
    (finding,) = governance(ground([looping(TIMED, tools=["pay"]), Final("DONE")]))
    assert [str(hop) for hop in finding.witness] == ["start -> S.A", "S.A ends [again] -> S.A"]


def test_a_circle_without_calls_is_noted() -> None:
    """Its guards bound it, and nothing else."""
    assert found(looping(TIMED), Final("DONE")) == [("unbounded-cycle", "note", "S.A")]


def test_a_person_in_the_circle_bounds_it() -> None:
    """Every round needs an event from outside."""
    first = State("A", do=work, tools=["pay"], to="B", policy=TIMED)
    assert found(first, State("B", on=[on("more", "A"), on("end", "DONE")]), Final("DONE")) == []


def test_a_fuse_that_leads_back_is_found() -> None:
    """What it ends begins anew, and it trips again at once."""
    first = State("A", do=work, tools=["pay"], to="DONE", on=[on("fuse", "B")], policy=FUSED)
    assert found(first, State("B", do=work, to="A"), Final("DONE")) == [("unbounded-cycle", "warning", "B")]


def test_a_tool_that_needs_an_approval_elsewhere_needs_it_everywhere() -> None:
    """The error stands at the state that calls it without, and names both places."""
    states = [
        State("A", do=work, tools=["pay"], to="B", policy=RESTRICTED),
        State("B", do=work, tools=["pay"], to="DONE", policy=ALLOWED),
        Final("DONE"),
    ]
    (finding,) = governance(ground(states))
    assert (finding.rule, finding.severity, finding.path) == ("unapproved", "error", "B")
    assert "needs one in `A`" in finding.message
    assert [hop.at for hop in finding.witness] == [("A",), ("B",)]


def test_a_tool_that_is_declared_and_forbidden_is_noted() -> None:
    """Every call would be refused."""
    forbidden = Policy(name="f", tools=ToolPolicy(default="forbidden"), call_timeout_s=9)
    state = State("A", do=work, tools=["pay"], to="DONE", policy=forbidden)
    assert found(state, Final("DONE")) == [("forbidden-tool", "note", "A")]


def test_calls_need_a_limit_in_time() -> None:
    """Of the policy, of the state, or of every tool; what only waits is noted."""
    free = State("A", do=work, tools=["pay"], to="DONE")
    assert found(free, Final("DONE")) == [("no-timeout", "warning", "A")]
    timed = {"pay": ToolFacts(effect="pure", timeout_s=3)}
    assert found(free, Final("DONE"), tools=timed) == []
    assert found(State("A", do=work, to="DONE"), Final("DONE"), waiting=("A",)) == [("no-timeout", "note", "A")]
    assert found(State("A", do=work, to="DONE"), Final("DONE")) == []


def test_what_must_not_run_twice_is_found_where_it_may() -> None:
    """In a state that can be entered again; not with a look-up, nor under a count of one."""
    once = {"pay": ToolFacts(effect="once")}
    states = looping(FUSED, tools=["pay"]), Final("DONE")
    assert found(*states, tools=once) == [("repeated-effect", "warning", "S.A")]
    assert found(*states, tools={"pay": ToolFacts(effect="once", has_lookup=True)}) == []
    single = ToolPolicy(rules=(Rule(match="pay", level="allowed", max_calls=1),))
    counted = Policy(name="one", fuses=Fuses(calls=5), tools=single, call_timeout_s=9)
    assert found(looping(counted, tools=["pay"]), Final("DONE"), tools=once) == []
    assert found(State("A", do=work, tools=["pay"], to="DONE", policy=TIMED), Final("DONE"), tools=once) == []


def test_the_way_enters_the_state_twice() -> None:
    """A shortest one that shows the repetition."""
    (finding,) = governance(
        ground([looping(FUSED, tools=["pay"]), Final("DONE")], tools={"pay": ToolFacts(effect="once")})
    )
    assert isinstance(finding, Finding)
    assert [hop.at for hop in finding.witness] == [("S.A",), ("S.A",)]


def test_fuses_trip_where_their_policies_set_them() -> None:
    """`fuse.turns` needs a model and a limit on turns, `fuse.calls` tools and a limit on calls."""
    states = [State("A", do=work, model="m", to="B"), State("B", do=work, tools=["pay"], to="DONE"), Final("DONE")]
    inside = ground([Superstate("S", *states[:2], policy=FUSED), states[2]], tools={"pay": ToolFacts(effect="pure")})
    trips = fuses(inside.chart, inside.effectives, tools=inside.tools)
    paths = {inside.chart.nodes[state].path: names for state, names in trips.items()}
    assert paths == {"S.A": frozenset({"fuse.policy"}), "S.B": frozenset({"fuse.calls"})}
