"""Exploration finds all that a chart can come to, and nothing it cannot."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings

from stateward.chart.coarse import coarse
from stateward.chart.compiler import build
from stateward.chart.explore import explore
from stateward.chart.graph import Graph
from stateward.chart.standing import Memories
from stateward.chart.state import Final, Parallel, State, Superstate
from stateward.chart.transition import History, on, when
from tests.chart.machines.choice import choice
from tests.chart.machines.regions import regions
from tests.chart.machines.working import count, needs_more, said_stop, think, working
from tests.chart.played import Deed, Play, scripts
from tests.chart.random_charts import Sketch, sketches
from tests.chart.sketched import chart as built

many = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def places(graph: Graph) -> set[tuple[str, ...]]:
    """Return the innermost active paths of every standing."""
    return {graph.paths(graph.atoms(number)) for number in range(len(graph.nodes))}


@many
@given(sketches(), scripts)
def test_whatever_a_run_comes_to_was_explored(sketch: Sketch, script: list[Deed]) -> None:
    """Guards, actions that raise events, timers, history and regions: every resting configuration is in the graph."""
    play = Play(built(sketch), script)
    graph = explore(play.chart, bound=800)
    memories = Memories(play.chart)
    known = {(node.active, node.memory) for node in graph.nodes if node.rests}
    atoms = {node.active[-1] for node in graph.nodes}
    for taken in play.taken:
        stands = taken.step.configuration
        kept = memories.kept(stands.history, active=stands.active)
        assert not graph.exact or (stands.active, kept) in known, (stands, sketch)
        assert graph.exact or atoms.issuperset(stands.atomic(play.chart))


def test_every_place_is_found_once_with_a_shortest_way() -> None:
    """History remembers three places, and the way back to each is the shortest."""
    graph = explore(working())
    assert places(graph) == {("WORKING.PLAN",), ("WORKING.ACT",), ("WORKING.REFLECT",), ("PAUSED",), ("DONE",)}
    paused = [number for number in range(len(graph.nodes)) if graph.paths(graph.atoms(number)) == ("PAUSED",)]
    assert [len(graph.hops(graph.way(number))) for number in paused] == [2, 3, 4]


def twice(*, act: bool) -> set[tuple[str, ...]]:
    """Return where a chart can come to that asks one guard twice in a step, with an action in between or without."""
    first = State("A", to=[when(said_stop, "B", do=count if act else ()), "C"])
    ends = [State(name, on=[on("x", "A")]) for name in ("C", "D", "E")]
    return places(explore(build("twice", [first, State("B", to=[when(said_stop, "D"), "E"]), *ends])))


def test_a_guard_says_the_same_until_an_action_runs() -> None:
    """So what is true at A is true at B within one step, but after an action it may be false."""
    assert ("E",) not in twice(act=False)
    assert ("E",) in twice(act=True)


def overtaking(*, act: bool) -> set[tuple[str, ...]]:
    """Return where a chart can come to in which `x` leads to L only while P is complete and not yet left."""
    first = State("A", on=[on("go", "F", do=count if act else ()), on("x")])
    whole = Superstate("P", first, Final("F"), on=[on("x", "L")], to="R")
    return places(explore(build("overtaking", [whole, Final("L"), Final("R")])))


def test_what_an_action_raises_may_overtake_a_completion() -> None:
    """It is processed before the completion of the same step; an event from outside comes after the step."""
    assert ("L",) in overtaking(act=True)
    assert ("L",) not in overtaking(act=False)


def test_a_guard_that_is_never_asked_is_known() -> None:
    """What was asked is kept, whatever it said."""
    graph = explore(choice())
    assert {graph.chart.transitions[index].guard_name.rpartition(".")[2] for index in graph.tested} == {
        "big",
        "small",
        "<lambda>",
    }


def test_the_coarse_graph_has_every_place_of_the_exact_one() -> None:
    """Regions are taken each for itself."""
    exact = {path for place in places(explore(regions())) for path in place}
    assert {path for place in places(coarse(regions())) for path in place} == exact


def test_above_the_bound_the_graph_is_coarse() -> None:
    """And says so."""
    assert (explore(regions(), bound=1).exact, explore(regions()).exact) == (False, True)


def test_many_guards_at_once_make_the_graph_coarse() -> None:
    """One event that depends on more combinations of guards than are tried."""

    def region(n: int) -> Superstate[Any]:
        return Superstate(f"R{n}", State("A", on=[on("x", "B", when=lambda state: state[n])]), State("B"))

    chart = build("wide", [Parallel("P", *map(region, range(12)))])
    assert not explore(chart, bound=10_000).exact


def test_an_activity_that_has_ended_does_not_end_again() -> None:
    """Its state stays, for `done.activity` leads nowhere; then only the event leads on."""
    graph = explore(build("once", [State("A", do=think, on=[on("x", "B"), on("error", "A")]), Final("B")]))
    assert len([node for node in graph.nodes if node.running]) == 1
    assert len([node for node in graph.nodes if not node.running]) == 2


def test_history_counts_only_while_it_can_be_read() -> None:
    """Inside of the superstate it will be written anew, so it makes no difference there."""
    graph = explore(
        build(
            "memory",
            [
                Superstate("S", State("A", on=[on("n", "B")]), State("B", on=[on("n", "A")]), history="shallow"),
                State("OUT", on=[on("back", History("S"))]),
            ],
            on=[on("out", "OUT")],
        )
    )
    assert len(graph.nodes) == 4


def test_needless_guards_are_not_asked() -> None:
    """Behind an unguarded transition nothing is asked."""
    chart = build("behind", [State("A", do=think, to=["B", when(needs_more, "A")]), Final("B")])
    assert explore(chart).tested == frozenset()


def test_a_queue_that_grows_with_all_that_is_raised_is_not_followed() -> None:
    """What an action might raise comes before the completions that wait, again and again: no bound would end it."""
    again = Superstate("A", Final("F"), entry=count, on=[on("x", "A")])
    assert not explore(build("growing", [again], on=[on("*", "A")]), bound=10**9).exact
