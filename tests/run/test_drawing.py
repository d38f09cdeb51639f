"""The drawable graph: what Studio shows."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from langchain_core.runnables.graph import Graph

from stateward.chart.compiler import build
from stateward.chart.definition import Definition
from stateward.chart.state import State, Superstate
from stateward.run.drawing import drawable
from stateward.run.plan import Machine
from tests.chart.machines.shipping import shipping
from tests.charts.drive import policy
from tests.charts.one import compiled
from tests.charts.tools import Shop
from tests.charts.working import graph


def edges(drawn: Any) -> set[tuple[str, str, Any]]:
    return {(edge.source, edge.target, edge.data) for edge in drawn.edges}


def test_states_are_nodes_named_by_their_paths() -> None:
    """Superstates are groups: `WORKING.PLAN` is `WORKING:PLAN`."""
    drawn = graph().get_graph()
    assert set(drawn.nodes) == {
        "__start__", "__end__", "WORKING:PLAN", "WORKING:ACT", "WORKING:REFLECT", "PAUSED", "DONE",
    }  # fmt: skip


def test_arrows_carry_events_and_guards() -> None:
    """A superstate's transition is drawn from each state inside."""
    drawn = edges(graph().get_graph())
    assert ("WORKING:PLAN", "PAUSED", "pause") in drawn
    assert ("WORKING:REFLECT", "WORKING:PLAN", "[needs_more]") in drawn
    assert ("PAUSED", "WORKING:PLAN", "resume / remember") in drawn
    assert ("DONE", "__end__", None) in drawn


def machine_of(chart: Definition) -> Machine:
    """A machine of which only the chart is known: that is all a drawing reads besides the plans."""
    rest: dict[str, Any] = {part.name: None for part in fields(Machine)}
    return Machine(**{**rest, "chart": chart, "plans": {}})


def shown() -> Graph:
    return drawable(machine_of(shipping()))


def test_regions_are_groups_entered_and_left_together() -> None:
    """Through a node of the parallel state, and one at which all have ended."""
    drawn = edges(shown())
    assert ("NEW", "HANDLING:(enter)", "order") in drawn
    assert ("HANDLING:(enter)", "HANDLING:GOODS:PICK", None) in drawn
    assert ("HANDLING:(enter)", "HANDLING:MONEY:CHARGE", None) in drawn
    assert ("HANDLING:MONEY:PAID", "HANDLING:(join)", None) in drawn
    assert ("HANDLING:(join)", "SENT", "[is_express]") in drawn


def test_timers_and_several_targets_are_drawn() -> None:
    """A target inside a region is entered there, and not through the parallel state's node."""
    drawn = edges(shown())
    assert ("QUEUE", "SENT", "after 3600s") in drawn
    assert ("NEW", "HANDLING:GOODS:PACK:WRAP", "known") in drawn
    assert ("NEW", "HANDLING:MONEY:DUNNING", "known") in drawn


def test_groups_nest_as_states_do() -> None:
    """LangChain's own drawing shows every one, though no edge lies directly between regions."""
    text = shown().draw_mermaid()
    groups = re.findall(r"subgraph (\w+)", text)
    assert groups == ["HANDLING", "GOODS", "PACK", "MONEY"]
    assert r"HANDLING\3aMONEY\3aCHARGE(CHARGE)" in text


def test_groups_of_one_name_are_kept_apart() -> None:
    """LangChain refuses two groups of one name."""
    one, other = (Superstate(name, Superstate("IN", State("A", to="B"), State("B"))) for name in ("X", "Y"))
    drawn = drawable(machine_of(build("twins", [one, other])))
    assert {"X:IN:A", "Y:IN_6:A"} <= set(drawn.nodes)
    assert drawn.draw_mermaid().count("subgraph") == 4


def test_generated_ask_is_drawn_where_a_person_may_be_asked() -> None:
    """Only there."""
    asking = compiled(lambda s: None, box=Shop().box, tools=["refund"], policy=policy("approve_refunds"))
    assert "WORK:ACT:ask" in asking.get_graph().nodes
    free = compiled(lambda s: None, box=Shop().box, tools=["lookup"], policy=policy("approve_refunds"))
    assert "WORK:ACT:ask" not in free.get_graph().nodes


def test_drawing_is_the_same_every_time() -> None:
    """Deterministic text."""
    assert graph().get_graph().draw_mermaid() == graph().get_graph(xray=True).draw_mermaid()
