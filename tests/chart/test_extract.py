"""One superstate as a chart of its own."""

from __future__ import annotations

import pytest

import stateward as sw
from stateward.chart.compiler import build
from stateward.chart.definition import Definition
from stateward.chart.extract import extract
from stateward.errors import DefinitionError, UnknownTarget
from stateward.simulation import Simulation


def nothing(state: object) -> None:
    """An activity or action without effect."""


def whole() -> Definition:
    """OUT holds WORKING, which has ways out, a history and an end of its own."""
    working = sw.Superstate(
        "WORKING",
        sw.State("A", do=nothing, to="W"),
        sw.State("W", on=[sw.on("go", "END"), sw.on("leave", "ELSE"), sw.on("back", sw.History("PAST"))]),
        sw.Final("END"),
        history="deep",
        to="NEXT",
        on=sw.on("pause", "PAUSED"),
    )
    out = sw.Superstate(
        "OUT",
        sw.State("FIRST", to="WORKING"),
        working,
        sw.State("NEXT", on=sw.on("again", sw.History("WORKING"))),
        sw.State("ELSE", on=sw.on("again", "NEXT")),
    )
    past = sw.Superstate("PAST", sw.State("P", on=sw.on("out", "OUT")), history="shallow")
    return build("whole", [out, past, sw.State("PAUSED", on=sw.on("r", "OUT"))], on=sw.on("abort", "PAUSED"))


def alone(exit_key: str | None = None) -> Simulation:
    """WORKING as a chart, in its first state."""
    return Simulation(extract(whole(), "OUT.WORKING", name="alone", exit_key=exit_key), state={})


def test_it_begins_where_a_plain_entry_of_it_leads() -> None:
    """What stands around it is a shell that leads inwards; paths stay as they are."""
    assert alone().at == ("OUT.WORKING.A",)


def test_what_happens_inside_stays_as_it_is() -> None:
    """The same steps as in the whole chart."""
    chart = alone()
    assert chart.complete() == ("OUT.WORKING.W",)


@pytest.mark.parametrize(
    ("event", "end"), [("leave", "OUT--ELSE"), ("pause", "PAUSED"), ("abort", "PAUSED"), ("back", "PAST")]
)
def test_a_way_out_ends_it_in_a_state_named_after_the_target(event: str, end: str) -> None:
    """Also the ways of the states around it, and one into a history."""
    chart = alone()
    chart.complete()
    assert chart.send(event) == (end,)
    assert chart.last.final


def test_its_completion_ends_it_where_its_to_leads() -> None:
    """`to` leads to NEXT in the whole chart."""
    chart = alone()
    chart.complete()
    assert chart.send("go") == ("OUT--NEXT",)


def test_a_completion_without_to_ends_it() -> None:
    """Nobody outside is asked; the end is called `done`."""
    chart = build("c", [sw.Superstate("S", sw.State("A", do=nothing, to="E"), sw.Final("E")), sw.State("X")])
    simulation = Simulation(extract(chart, "S", name="s"), state={})
    assert simulation.complete() == ("done",)
    assert simulation.last.final


def test_the_way_out_is_told() -> None:
    """`exit_key` gets the path of the target in the whole chart."""
    chart = alone(exit_key="went")
    chart.complete()
    chart.send("leave")
    assert chart.data.state["went"] == "OUT.ELSE"


def test_a_region_of_a_parallel_state_can_stand_alone() -> None:
    """The parallel state around it has that one region left."""
    one = sw.Superstate("ONE", sw.State("A", on=sw.on("go", "B")), sw.State("B"))
    chart = build("c", [sw.Parallel("P", one, sw.Superstate("TWO", sw.State("X")))])
    simulation = Simulation(extract(chart, "P.ONE", name="one"), state={})
    assert simulation.send("go") == ("P.ONE.B",)


def test_events_nobody_names_any_more_are_gone() -> None:
    """What only states outside await is not the new chart's."""
    assert "again" not in extract(whole(), "OUT.WORKING", name="alone").events


def test_an_unknown_state_is_refused_with_the_superstates_there_are() -> None:
    """The error lists them."""
    with pytest.raises(UnknownTarget, match=r"OUT\.WORKING"):
        extract(whole(), "WORKING", name="alone")


def test_a_state_without_states_inside_is_refused() -> None:
    """An activity alone is a function."""
    with pytest.raises(DefinitionError, match="no states inside"):
        extract(whole(), "PAUSED", name="alone")
