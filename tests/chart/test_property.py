"""Properties an author states, proven or refuted on the graph of a chart, and watched in a run."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from stateward.chart.compiler import build
from stateward.chart.definition import Definition
from stateward.chart.explore import explore
from stateward.chart.proof import Proof, prove
from stateward.chart.property import BROKEN, Property, always_before, eventually, never, separate, state_of
from stateward.chart.state import Final, Parallel, State, Superstate
from stateward.chart.transition import after, on, when
from stateward.errors import UnknownTarget
from tests.chart.machines.regions import regions
from tests.chart.machines.working import needs_more, think, working
from tests.chart.played import Deed, Play, scripts
from tests.chart.random_charts import Sketch, sketches
from tests.chart.sketched import chart as built


def proven(chart: Definition, stated: Property, *, bounded: bool = False, bound: int = 1000) -> Proof:
    """Prove a property; `bounded` says that a fuse bounds every activity."""
    return prove(explore(chart, bound=bound), stated, bounded=lambda edge: bounded and edge.cause == "activity")


def paying() -> Definition:
    """Return a chart that asks before it pays, but not the second time."""
    return build(
        "paying",
        [
            State("ASK", do=think, to=[when(needs_more, "PAY"), "BLOCKED"]),
            State("PAY", do=think, tools=["pay"], to=[when(needs_more, "PAY"), "DONE"]),
            State("BLOCKED", on=[on("unblock", "LOOK")]),
            State("LOOK", do=think, tools=["look"], to="DONE"),
            Final("DONE"),
        ],
    )


def test_what_no_way_breaks_is_proven() -> None:
    """Every way through the graph is taken."""
    for stated in (always_before("ASK", "PAY"), never("PAY", after="BLOCKED"), separate(["pay"], ["lo*"])):
        assert proven(paying(), stated).holds is True


def test_a_broken_order_is_shown_with_a_shortest_way() -> None:
    """The second payment had no question of its own."""
    proof = proven(paying(), always_before("ASK", "PAY", each=True))
    assert (proof.holds, proof.path) == (False, "PAY")
    assert [str(hop) for hop in proof.witness] == [
        "start -> ASK",
        "ASK ends [needs_more] -> PAY",
        "PAY ends [needs_more] -> PAY",
    ]


def test_what_must_never_be_is_found() -> None:
    """Plainly, or after something else; a superstate stands for all inside."""
    assert proven(working(), never("DONE")).holds is False
    assert proven(working(), never("WORKING.PLAN", after="DONE")).holds is True
    assert proven(working(), never("WORKING", after="PAUSED")).holds is False


def test_what_is_entered_together_is_not_before_or_after() -> None:
    """The regions of a parallel state are entered at the same time, but after the state itself."""
    assert proven(regions(), always_before("P.L.L1", "P.R.R1")).holds is False
    assert proven(regions(), never("P.R.R1", after="P.L.L1")).holds is True
    assert proven(regions(), always_before("P", "P.R.R1")).holds is True
    assert proven(regions(), never("P.R.R1", after="P")).holds is False


def test_tools_that_meet_in_one_run_are_found() -> None:
    """Also in one state."""
    chart = build("meet", [State("A", do=think, tools=["connect"], to="B"), State("B", do=think, tools=["run"])])
    assert proven(chart, separate(["connect"], ["run"])).holds is False
    both = build("both", [State("A", do=think, tools=["connect", "run"])])
    assert proven(both, separate(["connect"], ["run"])).holds is False


def test_an_end_comes_if_every_circle_is_bounded() -> None:
    """A person may pause for ever, but goes on; what only guards bound is not bounded."""
    assert proven(working(), eventually("DONE"), bounded=True).holds is True
    proof = proven(working(), eventually("DONE"))
    assert proof.holds is False
    assert [hop.at[0] for hop in proof.witness][-3:] == ["WORKING.ACT", "WORKING.REFLECT", "WORKING.PLAN"]


def test_another_end_is_not_the_one_that_was_stated() -> None:
    """A run that ends elsewhere never comes there."""
    chart = build("two", [State("A", on=[on("x", "B"), on("y", "C")]), Final("B"), Final("C")])
    proof = proven(chart, eventually("B"))
    assert (proof.holds, proof.path) == (False, "C")


def test_time_alone_can_go_round_for_ever() -> None:
    """A timer that only sets itself anew avoids the end."""
    chart = build("tick", [State("A", on=[after(5, "A"), on("x", "B")]), Final("B")])
    assert proven(chart, eventually("B")).holds is False


def test_what_is_never_reached_never_comes() -> None:
    """There is no way to show it."""
    proof = proven(build("lost", [State("A", on=[on("x", "A")]), Final("B")]), eventually("B"))
    assert (proof.holds, proof.witness) == (False, ())


def test_above_the_bound_a_property_may_be_undecided() -> None:
    """What the coarse graph rules out is proven all the same."""
    both = Parallel("P", Superstate("L", State("A", do=think)), Superstate("R", State("B", do=think)), State("S"))
    chart = build("coarse", [both, State("C")])
    assert proven(chart, never("C"), bound=1).holds is True
    undecided = proven(regions(), never("OUT", after="P.L.L2"), bound=1)
    assert undecided.holds is None
    finding = undecided.finding()
    assert finding is not None
    assert (finding.rule, finding.severity) == ("undecided", "warning")


def test_a_state_is_named_by_its_path_or_by_an_end_of_it() -> None:
    """An end that two states share is refused, like a name that no state has."""
    chart = build("names", [Superstate("S", State("A"), State("B")), Superstate("T", State("A"))])
    assert state_of("B", chart=chart) == chart.by_path["S.B"]
    with pytest.raises(UnknownTarget, match=r"`S\.A`, `T\.A`"):
        state_of("A", chart=chart)
    with pytest.raises(UnknownTarget, match="Known states"):
        state_of("C", chart=chart)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sketches(), scripts)
def test_no_run_breaks_what_was_proven(sketch: Sketch, script: list[Deed]) -> None:
    """For each pair of states: if `never(B, after=A)` is proven, no run of the kernel enters B after A."""
    play = Play(built(sketch), script)
    graph = explore(play.chart, bound=300)
    names = [node.path for node in play.chart.nodes[1:] if node.kind == "atomic"][:3]
    for stated in [never(one, after=other) for one in names for other in names]:
        watcher, mark = stated.watch(play.chart), 0
        for micro in (micro for taken in play.taken for micro in taken.step.microsteps):
            mark = watcher.after(mark, entered=micro.entered)
        assert mark != BROKEN or prove(graph, stated, bounded=lambda edge: False).holds is not True
