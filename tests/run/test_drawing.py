"""The drawable graph: what Studio shows."""

from __future__ import annotations

from typing import Any

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
    assert ("PAUSED", "WORKING:PLAN", "resume") in drawn
    assert ("DONE", "__end__", None) in drawn


def test_generated_ask_is_drawn_where_a_person_may_be_asked() -> None:
    """Only there."""
    asking = compiled(lambda s: None, box=Shop().box, tools=["refund"], policy=policy("approve_refunds"))
    assert "WORK:ACT:ask" in asking.get_graph().nodes
    free = compiled(lambda s: None, box=Shop().box, tools=["lookup"], policy=policy("approve_refunds"))
    assert "WORK:ACT:ask" not in free.get_graph().nodes


def test_drawing_is_the_same_every_time() -> None:
    """Deterministic text."""
    assert graph().get_graph().draw_mermaid() == graph().get_graph(xray=True).draw_mermaid()
