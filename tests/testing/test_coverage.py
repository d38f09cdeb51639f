"""What charts have done while they were watched."""

from __future__ import annotations

import asyncio
from threading import Thread

from hypothesis import given, settings

import stateward as sw
from stateward.chart.check import check
from stateward.chart.definition import Definition
from stateward.chart.step import PlainData, advance, start
from stateward.testing import How, run_graph
from stateward.testing.coverage import ChartCoverage, Coverage, percent, watching
from tests.chart.machines.choice import choice
from tests.chart.machines.working import working
from tests.chart.paths import seen
from tests.chart.played import Deed, Play, scripts
from tests.chart.random_charts import Sketch, sketches
from tests.chart.sketched import chart
from tests.charts.one import compiled


def of(coverage: Coverage) -> ChartCoverage:
    """Return the only chart that was seen."""
    (known,) = coverage.charts()
    return known


def go(definition: Definition, *names: str, amount: int = 500) -> None:
    """Take a chart through some events."""
    data = PlainData({"amount": amount})
    configuration = start(definition, data).configuration
    for name in names:
        configuration = advance(definition, configuration, seen(name), data).configuration


def test_states_transitions_and_guards_are_counted() -> None:
    """What was entered, what was taken, and which guards were seen both ways."""
    with watching(coverage := Coverage()):
        go(choice(), "go")
        go(choice(), "go", amount=5)
    known = of(coverage)
    assert known.entered == {"WAIT", "JOB", "JOB.ROUTE", "JOB.LARGE", "JOB.SMALL", "JOB.END", "CLOSED"}
    assert known.guards == {"JOB.ROUTE -> JOB.LARGE [big]"}
    assert "state FAILED was never entered" in known.missing
    assert "guard of JOB.ROUTE -> JOB.SMALL [small] was never false" in known.missing
    assert (known.covered, known.total) == (7 + 6 + 1, 8 + 7 + 3)
    assert percent([known]) == 77.7


def test_nothing_is_seen_when_nobody_watches() -> None:
    """Before and after: the kernel's own functions are back."""
    go(choice(), "go")
    with watching(coverage := Coverage()):
        pass
    go(choice(), "go")
    assert coverage.charts() == ()
    assert percent(()) == 0.0


def test_two_may_watch_at_once() -> None:
    """The inner one sees what the outer one sees."""
    with watching(outer := Coverage()), watching(inner := Coverage()):
        go(choice())
    assert outer.charts() == inner.charts() != ()


def test_charts_of_one_name_and_structure_are_one() -> None:
    """Another name or another structure is another chart."""
    with watching(coverage := Coverage()):
        go(choice())
        go(choice(), "go")
        go(working(), "pause")
    assert [known.name for known in coverage.charts()] == ["choice", "working"]


def test_a_proof_is_no_run() -> None:
    """`check` looks at steps that it does not take."""
    with watching(coverage := Coverage()):
        check(choice())
    assert coverage.charts() == ()


def test_compiled_graph_is_seen_both_ways(how: How) -> None:
    """Through `invoke` and `ainvoke`."""
    with watching(coverage := Coverage()):
        run_graph(compiled(lambda state: {"text": "x"}), {"text": ""}, how=how)
    assert of(coverage).entered == {"WORK", "WORK.ACT", "DONE"}


def test_simulations_in_threads_and_tasks_are_seen() -> None:
    """Whoever steps the chart, from wherever."""
    two = sw.Chart("two", dict, sw.State("A", on=[sw.on("x", "B"), sw.on("y", "C")]), sw.State("B"), sw.State("C"))

    async def later() -> None:
        two.simulate().send("y")

    with watching(coverage := Coverage()):
        thread = Thread(target=lambda: two.simulate().send("x"))
        thread.start()
        thread.join()
        asyncio.run(later())
    assert percent([of(coverage)]) == 100.0


def test_arrows_that_read_alike_are_told_apart() -> None:
    """By a number; timers and eventless transitions say what they are."""
    states = [sw.State("A", on=[sw.on("x", "B"), sw.on("x", "B"), sw.after(2, "B")], always="B"), sw.State("B")]
    with watching(coverage := Coverage()):
        sw.Chart("alike", dict, *states).simulate()
    assert of(coverage).transitions == ("A -> B on x #1", "A -> B on x #2", "A -> B after 2 s", "A -> B always")


@settings(max_examples=15, deadline=None)
@given(sketches(), scripts)
def test_every_way_of_stepping_is_seen(sketch: Sketch, script: list[Deed]) -> None:
    """Whatever a step says it did was noted, the kernel's short ways included."""
    with watching(coverage := Coverage()):
        play = Play(chart(sketch), script)
    if play.taken:
        steps, known = [taken.step for taken in play.taken], of(coverage)
        entered = {s for step in steps for micro in step.microsteps for s in micro.entered if s}
        taken = {t for step in steps for micro in step.microsteps for t in micro.transitions}
        assert known.entered == {play.chart.nodes[state].path for state in entered}
        assert known.taken == {known.transitions[index] for index in taken}
        assert known.passed == {known.transitions[v.transition] for step in steps for v in step.verdicts if v.passed}


def test_json_says_the_same() -> None:
    """Plain JSON, with a verdict for each state, transition and guard."""
    with watching(coverage := Coverage()):
        go(choice(), "go")
    document = of(coverage).to_json()
    assert document["name"] == "choice"
    assert document["states"] == {**dict.fromkeys(of(coverage).states, True), "JOB.SMALL": False, "FAILED": False}
    assert document["guards"]["JOB.ROUTE -> JOB.LARGE [big]"] == {"true": True, "false": False}  # pyright: ignore
