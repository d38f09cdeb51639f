"""Definitions as SCXML documents."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from stateward.chart.compiler import build
from stateward.chart.tables import define
from stateward.errors import DefinitionError
from stateward.exchange import scxml_writer
from stateward.exchange.registry import Registry
from stateward.exchange.scxml_reader import read_scxml
from stateward.exchange.scxml_writer import time_of, write_scxml
from stateward.exchange.xstate_reader import read_xstate
from tests.exchange.machines.charts import CHARTS, REGISTRY

MACHINES = Path(__file__).parent / "machines"


def note(state: Any) -> None:
    """An action."""


def tell(state: Any, *, text: str) -> None:
    """An action with an argument."""


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_written_as_its_golden_document(name: str) -> None:
    """Letter by letter."""
    assert write_scxml(CHARTS[name]()) == (MACHINES / f"{name}.scxml").read_text()


def test_what_scxml_has_no_place_for_at_the_top_stands_in_a_state_around_all() -> None:
    """Transitions of the whole chart; it is unwrapped when it is read."""
    chart = build("c", [sw.State("A", on=sw.on("go", "B")), sw.Final("B")], on=[sw.on("stop", "B"), sw.after(60, "B")])
    text = write_scxml(chart)
    assert '<state id="chart" sw:root="root" initial="A">' in text
    assert '<transition event="done.state.chart" target="end" sw:root="end"/>' in text
    assert '<send event="after.chart.0" id="after.chart.0" delay="60s"/>' in text
    assert read_scxml(text).to_json() == chart.to_json()


def test_a_history_of_the_whole_chart_stands_in_that_state_too() -> None:
    """`<scxml>` has none, and a machine of XState may have one at its top."""
    states = {
        "a": {"on": {"go": "b"}},
        "b": {"on": {"back": {"target": "h", "reenter": True}}},
        "h": {"type": "history", "target": "a"},
    }
    chart = read_xstate({"id": "m", "initial": "a", "states": states})
    assert read_scxml(write_scxml(chart)).to_json() == chart.to_json()


def test_a_state_without_activity_that_completes_at_once_raises_its_completion() -> None:
    """SCXML has none for a state without states inside."""
    text = write_scxml(build("c", [sw.State("A", to="B"), sw.State("B")]))
    assert '<raise event="done.state.A"/>' in text
    assert '<transition event="done.state.A" target="B" sw:completion="true"/>' in text


def test_other_names_than_their_own_come_from_the_registry() -> None:
    """A partial function has its arguments beside it."""
    chart = build("c", [sw.State("A", entry=functools.partial(tell, text="<&>\n\"'"), exit=lambda state: None)])
    registry = Registry.of(actions={"tell them": tell, "nothing": chart.node("A").exit[0].fn.fn})
    text = write_scxml(chart, registry=registry)
    assert '<sw:action name="nothing"/>' in text
    assert '<sw:action name="tell them" params=' in text
    assert write_scxml(read_scxml(text, registry=registry), registry=registry) == text


@pytest.mark.parametrize("seconds", [0.0, 0.1, 1e-9, 86400.0, 1.0000000000000002, 2.5e15])
def test_a_time_is_written_in_decimal_and_comes_back_exact(seconds: float) -> None:
    """Without an exponent, which SCXML does not know."""
    chart = build("c", [sw.State("A", on=sw.after(seconds, "A"))])
    assert "e" not in time_of(seconds)
    assert read_scxml(write_scxml(chart)).transitions[0].delay == seconds


def test_policies_are_an_error_unless_they_may_be_left_out() -> None:
    """The message names the first state with one."""
    chart = build("c", [sw.State("A", policy="strict"), sw.State("B", on=sw.on("go", "A"), policy="strict")])
    with pytest.raises(DefinitionError, match=r"A policy cannot be written.*\(at A\)\. .*`without_policies=True`"):
        write_scxml(chart)
    with pytest.raises(DefinitionError, match=r"A policy cannot be written.*\(at c\)"):
        write_scxml(build("c", [sw.State("A")]), policy="strict")
    assert "policy" not in write_scxml(chart, without_policies=True)


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (sw.State("A", entry=lambda state: None), "`.*<lambda>` has no name"),
        (sw.State("A", do=functools.partial(note, text="x")), "activity `note` is a partial function"),
        (sw.State("A", do=note, tools=["look up"]), "The tool name 'look up' cannot stand in a list"),
        (sw.State("A", on=sw.on("done.state.B")), "`done.state.B` speaks of no state"),
        (sw.State("A", on=sw.on("done.invoke.x")), "`done.invoke.x` would mean the end of an activity"),
        (sw.State("A", on=sw.on("after.x.0")), "`after.x.0` speaks of no state"),
        (sw.State("A", do=note, model="\x00"), "characters that no XML document can hold"),
    ],
)
def test_what_cannot_be_written_names_its_state(state: Any, told: str) -> None:
    """And says what to do."""
    with pytest.raises(DefinitionError, match=told) as caught:
        write_scxml(build("c", [state]))
    assert caught.value.fix
    assert caught.value.where


def test_a_state_whose_name_is_no_id_is_refused() -> None:
    """Only tables made by hand can have one."""
    chart = build("c", [sw.State("A")])
    nodes = [chart.nodes[0], replace(chart.nodes[1], name="a b", path="a b")]
    with pytest.raises(DefinitionError, match="`a b` cannot be an id"):
        write_scxml(define("c", nodes=nodes, transitions=(), events={}))


def test_the_registry_given_is_left_as_it_is() -> None:
    """What is found in the chart is added to a copy."""
    write_scxml(CHARTS["order"](), registry=(registry := Registry.of()))
    assert not any(registry.things.values())
    assert REGISTRY.things["actions"]
    assert scxml_writer.__doc__
