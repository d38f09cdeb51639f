"""Definitions as XState v5 machines."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from stateward.chart.compiler import build
from stateward.errors import DefinitionError
from stateward.exchange.xstate_reader import read_xstate
from stateward.exchange.xstate_writer import write_xstate, xstate_text
from tests.exchange.machines.charts import CHARTS

MACHINES = Path(__file__).parent / "machines"


def is_ready(state: Any) -> bool:
    """A guard."""
    return True


def note(state: Any) -> None:
    """An action."""


def soon(state: Any, *, n: float) -> float:
    """A delay."""
    return n


def written(*states: Any, **chart: Any) -> Any:
    return write_xstate(build("m", states, **chart))


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_written_as_its_golden_machine(name: str) -> None:
    """Letter by letter."""
    assert xstate_text(write_xstate(CHARTS[name]())) == (MACHINES / f"{name}.json").read_text()


def test_what_leaves_its_source_says_reenter() -> None:
    """An internal transition does not, nor one that leads elsewhere."""
    on = [sw.on("a", "A.X"), sw.on("b", "A.X", internal=True), sw.on("c", "A"), sw.on("d", "B")]
    machine = written(sw.Superstate("A", sw.State("X"), on=on), sw.State("B"))
    assert machine["states"]["A"]["on"] == {
        "a": {"target": ".X", "reenter": True},
        "b": ".X",
        "c": {"target": "A", "reenter": True},
        "d": "B",
    }


def test_a_target_is_written_as_near_as_it_is() -> None:
    """Inside, beside, or by the machine's id, whose dots are kept from dividing."""
    inner = sw.Superstate("A", sw.State("X", on=[sw.on("a", "Y"), sw.on("b", "B")]), sw.State("Y"))
    chart = build("my.chart", [inner, sw.State("B")])
    x = write_xstate(chart)["states"]["A"]["states"]["X"]  # pyright: ignore
    assert x["on"] == {"a": "Y", "b": "#my\\.chart.B"}
    assert read_xstate(write_xstate(chart)).to_json() == chart.to_json()


def test_the_order_of_transitions_is_said_where_it_cannot_be_seen() -> None:
    """Under one key it can."""
    plain = written(sw.State("A", on=[sw.on("a", "A", when=is_ready), sw.on("a", do=note)]))
    assert "meta" not in str(plain["states"])
    mixed = written(sw.State("A", on=[sw.on("a", do=note), sw.on("b", do=note), sw.on("a", "A")]))
    assert [each["meta"]["stateward"]["at"] for each in mixed["states"]["A"]["on"]["a"]] == [0, 2]


def test_a_completion_that_may_lead_nowhere_says_that_it_is_one() -> None:
    """So does that of a state without activity, which XState takes as eventless."""
    guarded = sw.Superstate("A", sw.Final("X"), to=sw.when(is_ready, "B"))
    machine = written(guarded, sw.State("B", to="C"), sw.State("C"))
    own = {"meta": {"stateward": {"completion": True}}}
    assert machine["states"]["A"]["onDone"] == {"target": "B", "guard": "is_ready", **own}
    assert machine["states"]["B"]["always"] == {"target": "C", **own}


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (sw.Superstate("A", sw.Superstate("B", sw.State("X")), initial="B.X"), "It begins in `A.B.X`"),
        (sw.State("A", on=[sw.on("*", "A"), sw.on("go", do=note)]), r"`\*` stands before `go`"),
        (sw.State("A", on=[sw.on("go", "A"), sw.on("go.on", do=note)]), r"`go.\*` stands before `go.on`"),
        (sw.State("A", on=[sw.on("*", "A"), sw.after(1, "A")]), r"`\*` stands before `after.A.0`"),
        (sw.State("A", on=[sw.after(1, do=note), sw.after(1, "A")]), "Two timers of one delay, 1000,"),
        (sw.State("A", on=sw.after(functools.partial(soon, n=2.0), "A")), "delay `soon` is a partial function"),
        (sw.State("A", do=functools.partial(note, text="x")), "activity `note` is a partial function"),
        (sw.State("A", on=sw.on("xstate.init", "A")), "`xstate.init` would mean something else"),
        (sw.State("A", on=sw.on("done.state.x", "A")), "completion of `x`, which is no state"),
        (sw.State("A", to="A", on=sw.on("done.state.A", do=note)), "of which XState keeps one"),
        (sw.State("A", entry=lambda state: None), "has no name"),
        (sw.State("A", policy="strict"), "A policy cannot be written"),
    ],
)
def test_what_xstate_would_do_otherwise_is_refused(state: Any, told: str) -> None:
    """With the state's path and what to do."""
    with pytest.raises(DefinitionError, match=told) as caught:
        written(state)
    assert caught.value.where.startswith(("A", "x"))
    assert caught.value.fix


def test_leaving_a_busy_parallel_state_is_refused() -> None:
    """XState would not leave it."""
    left = sw.Superstate("L", sw.State("X", on=sw.on("go", "P.R.Y")))
    right = sw.Superstate("R", sw.State("X"), sw.State("Y"))
    with pytest.raises(DefinitionError, match=r"leaves the parallel state `P` here .*\(at P.L.X\)"):
        written(sw.Parallel("P", left, right, entry=note))
    assert "P" in written(sw.Parallel("P", left, right))["states"]
