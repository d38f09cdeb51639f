"""A Hypothesis state machine made of a chart."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from pydantic import Field

import stateward as sw
from stateward.errors import DefinitionError, NoTransition, UnknownTarget
from stateward.properties import never
from stateward.testing import chart_machine
from tests.chart.machines.working import working

few = settings(
    max_examples=30,
    stateful_step_count=10,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate, Phase.shrink),
)


class Order(sw.Event):
    """Something is ordered."""

    amount: Annotated[int, Field(gt=0, lt=1000)]
    note: str = ""


def take(state: Any, event: Order) -> dict[str, int]:
    """Keep the amount."""
    return {"amount": event.amount}


def big(state: Any) -> bool:
    """Tell whether it is much."""
    return state["amount"] > 500


def work(state: Any) -> None:
    """Stand for an activity."""


def shop(**rest: Any) -> sw.Chart[Any]:
    """Big orders are approved before they are paid; everything fails into a state of its own."""
    return sw.Chart(
        "shop",
        dict,
        sw.State("OPEN", on=[sw.on(Order, "CHECK", do=take)]),
        sw.State("CHECK", do=work, to=[sw.when(big, "APPROVE"), "PAY"], **rest),
        sw.State("APPROVE", on=[sw.on("yes", "PAY"), sw.after(60, "OPEN")]),
        sw.State("PAY", do=work, to="OPEN"),
        sw.State("BROKEN", on=[sw.on("mend", "OPEN")]),
        on=[sw.on("error", "BROKEN"), sw.on("timeout", "BROKEN"), sw.on("news")],
    )


TestShop = chart_machine(shop(timeout_s=5)).TestCase
TestShop.settings = few


def found(machine: Any) -> str:
    """Return the shortest sequence of calls that fails."""
    with pytest.raises(AssertionError) as failure:
        run_state_machine_as_test(machine, settings=few)
    return "\n".join(failure.value.__notes__)


def test_shortest_sequence_that_breaks_a_property_is_printed() -> None:
    """As calls, one for each event and activity; data is made from the event's type, with its limits."""
    text = found(chart_machine(shop(), properties=[never("PAY")]))
    assert [line for line in text.splitlines() if line.startswith("state.")] == [
        "state.begin(state={})",
        "state.send_order(data=Order(amount=1, note=''))",
        "state.end_CHECK(update={})",
        "state.teardown()",
    ]


def test_walks_come_everywhere() -> None:
    """Failures, timeouts, timers and the ends of activities lead on."""
    seen: set[str] = set()
    machine = chart_machine(shop(timeout_s=5), properties=[lambda trace: seen.update(trace[-1].active) is None])
    run_state_machine_as_test(machine, settings=settings(few, max_examples=60))
    assert seen == {"OPEN", "CHECK", "APPROVE", "PAY", "BROKEN"}


def test_properties_of_the_chart_are_looked_at_too() -> None:
    """What `check` proves."""
    stated = sw.Chart("stated", dict, sw.State("A", on=[sw.on("go", "B")]), sw.State("B"), properties=[never("B")])
    assert "state.send_go()" in found(chart_machine(stated))


def test_data_of_events_updates_and_the_beginning_can_be_given() -> None:
    """By name, by path, as a value or a strategy."""
    machine = chart_machine(
        shop(),
        state=st.just({"amount": 0}),
        events={"order": st.just({"amount": 1}), "news.today": st.none()},
        updates={"CHECK": st.just({"amount": 999})},
        properties=[never("APPROVE")],
    )
    assert "state.end_CHECK(update={'amount': 999})" in found(machine)


def test_way_out_that_is_missing_is_found() -> None:
    """A `to` whose guards may all be false."""
    dead = sw.Chart("dead", dict, sw.State("A", do=work, to=[sw.when(lambda state: False, "B")]), sw.Final("B"))
    with pytest.raises(NoTransition):
        run_state_machine_as_test(chart_machine(dead), settings=few)


def test_definition_is_a_chart_too() -> None:
    """Without a façade around it."""
    run_state_machine_as_test(chart_machine(working()), settings=few)


def test_regions_histories_and_timers_are_walked_through() -> None:
    """Every configuration stays legal, and the walks come to every region."""
    left = sw.Superstate("L", sw.State("A", do=work, to="B"), sw.State("B", on=[sw.after(1, "A")]))
    right = sw.Superstate("R", sw.State("C", on=[sw.on("go", "D")]), sw.State("D"), history="shallow")
    both = sw.Parallel("P", left, right, history="deep", on=[sw.on("out", "OUT")])
    out = sw.State("OUT", on=[sw.on("back", sw.History("P"))])
    seen: set[str] = set()
    chart = sw.Chart("both", dict, both, out)
    machine = chart_machine(chart, properties=[lambda trace: seen.update(trace[-1].active) is None])
    run_state_machine_as_test(machine, settings=few)
    assert seen >= {"P.L.A", "P.L.B", "P.R.C", "P.R.D", "OUT"}


@pytest.mark.parametrize(
    ("wrong", "error", "told"),
    [
        ({"events": {"ordr": st.none()}}, DefinitionError, "react to: `news`, `order`"),
        ({"updates": {"OPEN": st.none()}}, DefinitionError, "States with one: `CHECK`, `PAY`"),
        ({"properties": [never("NOWHERE")]}, UnknownTarget, "NOWHERE"),
    ],
)
def test_wrong_names_are_told_at_once(wrong: dict[str, Any], error: type[Exception], told: str) -> None:
    """With what there is."""
    with pytest.raises(error, match=told):
        chart_machine(shop(), **wrong)


def test_testing_works_without_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only who asks for a machine is told what to install."""
    import stateward.testing as testing

    for module in ("stateward.testing.machine", "stateward.testing.walk"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    assert testing.ScriptedModel.of("a").invoke("x").text == "a"
    with pytest.raises(ImportError, match=r"stateward\[test\]"):
        _ = testing.chart_machine
    with pytest.raises(AttributeError, match="no attribute `chart_mashine`"):
        _ = testing.chart_mashine  # pyright: ignore
