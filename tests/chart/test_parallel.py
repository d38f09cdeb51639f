"""Parallel states as an author writes them: regions, joins, several targets, history, `active`."""

from __future__ import annotations

import pytest

import stateward as sw
from stateward.chart.compiler import build
from stateward.chart.data import PlainData
from stateward.chart.definition import Definition
from stateward.chart.state import AnyState
from stateward.chart.step import Step, advance, start
from stateward.errors import DefinitionError
from tests.chart.paths import at, seen


def region(name: str, *, data: object = None) -> sw.Superstate:
    """One, two, end: `NAME1` and `NAME2` lead on."""
    end = sw.Final("END", data=(lambda state: data) if data is not None else None)
    first, second = sw.State("ONE", on=sw.on(f"{name}1", "TWO")), sw.State("TWO", on=sw.on(f"{name}2", "END"))
    return sw.Superstate(name, first, second, end)


def joined(**both: object) -> Definition:
    """BOTH holds the regions l and r, then DONE; `out` leaves it, `back` returns by history."""
    parallel = sw.Parallel("BOTH", region("l", data=1), region("r"), to="DONE", on=sw.on("out", "AWAY"), **both)  # pyright: ignore
    away = sw.State("AWAY", on=[sw.on("back", sw.History("BOTH") if both.get("history") else "BOTH")])
    return build("joined", [parallel, away, sw.Final("DONE")])


def play(chart: Definition, *names: str, data: PlainData | None = None) -> Step:
    """Send events one after the other."""
    data = data or PlainData()
    step = start(chart, data)
    for name in names:
        step = advance(chart, step.configuration, seen(name), data)
    return step


def test_all_regions_are_entered_in_document_order() -> None:
    """Each where a plain entry of it leads."""
    assert at(joined(), play(joined())) == ["BOTH.l.ONE", "BOTH.r.ONE"]


def test_an_event_moves_the_region_that_reacts() -> None:
    """The other stays as it is."""
    assert at(joined(), play(joined(), "r1")) == ["BOTH.l.ONE", "BOTH.r.TWO"]


def test_the_join_waits_for_the_last_region() -> None:
    """One region at its end is not the end."""
    chart = joined()
    assert at(chart, play(chart, "l1", "l2")) == ["BOTH.l.END", "BOTH.r.ONE"]
    assert play(chart, "l1", "l2", "r1", "r2").final


def test_the_join_tells_the_data_of_the_regions_that_had_some() -> None:
    """By the name of the region."""
    got: list[object] = []
    parallel = sw.Parallel("BOTH", region("l", data=1), region("r"))
    told = sw.on("done.state.OUT.BOTH", "DONE", when=lambda event: got.append(event.data) or True)
    chart = build("c", [sw.Superstate("OUT", parallel, on=told), sw.Final("DONE")])
    assert play(chart, "l1", "l2", "r1", "r2").final
    assert got == [{"l": 1}]


def test_leaving_it_leaves_every_region_inside_out() -> None:
    """In reverse document order, the parallel state last."""
    chart = joined()
    (micro,) = play(chart, "l1", "out").microsteps
    left = [chart.nodes[state].path for state in micro.exited]
    assert left == ["BOTH.r.ONE", "BOTH.r", "BOTH.l.TWO", "BOTH.l", "BOTH"]


@pytest.mark.parametrize(("kind", "expected"), [("deep", "TWO"), ("shallow", "ONE"), (None, "ONE")])
def test_history_of_a_parallel_state(kind: str | None, expected: str) -> None:
    """Deep brings back every region; shallow knows only that all of them were active."""
    chart = joined(history=kind)
    assert at(chart, play(chart, "l1", "out", "back")) == [f"BOTH.l.{expected}", "BOTH.r.ONE"]


def test_a_transition_enters_several_targets() -> None:
    """Regions that none of them names are entered as usual."""
    both = sw.Parallel("BOTH", region("l"), region("r"), region("m"))
    chart = build("c", [sw.State("A", on=sw.on("go", ["BOTH.l.TWO", "BOTH.m.TWO"])), both])
    assert at(chart, play(chart, "go")) == ["BOTH.l.TWO", "BOTH.r.ONE", "BOTH.m.TWO"]


def test_a_superstate_begins_in_several_states() -> None:
    """`initial` names states in different regions inside."""
    inside = sw.Parallel("BOTH", region("l"), region("r"))
    chart = build("c", [sw.Superstate("S", inside, initial=["BOTH.l.TWO", "BOTH.r.TWO"])])
    assert at(chart, play(chart)) == ["S.BOTH.l.TWO", "S.BOTH.r.TWO"]


def test_a_guard_sees_which_states_are_active() -> None:
    """`active` is what SCXML calls In()."""

    def when_right_is_two(state: object, active: frozenset[str]) -> bool:
        return "BOTH.r.TWO" in active

    left = sw.Superstate("l", sw.State("A", on=sw.on("go", "B", when=when_right_is_two)), sw.State("B"))
    chart = build("c", [sw.Parallel("BOTH", left, region("r"))])
    assert at(chart, play(chart, "go")) == ["BOTH.l.A", "BOTH.r.ONE"]
    assert at(chart, play(chart, "r1", "go")) == ["BOTH.l.B", "BOTH.r.TWO"]


def test_an_exit_action_sees_what_is_still_active() -> None:
    """States left before are gone already (W3C test 409)."""
    data = PlainData()
    inner = sw.State("IN", on=sw.on("go", "AWAY"))

    def note(state: object, active: frozenset[str]) -> dict[str, object]:
        return {"seen": sorted(active)}

    chart = build("c", [sw.Superstate("OUT", inner, exit=note), sw.State("AWAY")])
    play(chart, "go", data=data)
    assert data.state["seen"] == ["OUT"]


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([sw.Parallel("P")], "no regions"),
        ([sw.Parallel("P", sw.Superstate("R", sw.State("A")), sw.Final("F"))], "region `F` is a `Final`"),  # pyright: ignore
        ([sw.State("A", on=sw.on("go", ["A", "B"])), sw.State("B")], "together"),
        ([sw.Superstate("S", sw.State("A"), sw.State("B"), initial=["A", "B"])], "together"),
    ],
)
def test_what_cannot_be_is_refused(states: list[AnyState], message: str) -> None:
    """When the chart is built, with the place."""
    with pytest.raises(DefinitionError, match=message):
        build("c", states)
