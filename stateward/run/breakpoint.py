"""LangGraph's breakpoints, `interrupt_before` and `interrupt_after`: only what is a step of the graph can be one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langgraph.pregel import Pregel

from stateward.errors import InputRefused
from stateward.run.plan import HUB, Machine


def refuse_breakpoints(graph: Pregel[Any, Any, Any, Any], machine: Machine, given: Mapping[str, Any]) -> None:
    """Refuse breakpoints at which no run would ever stop: LangGraph says nothing of them.

    Args:
        graph: The compiled chart, which may have breakpoints of its own.
        machine: The lowered chart.
        given: LangGraph's arguments of the call.

    Raises:
        InputRefused: There is no such node, or it is a state in a region.
    """
    for name, own in (
        ("interrupt_before", graph.interrupt_before_nodes),
        ("interrupt_after", graph.interrupt_after_nodes),
    ):
        nodes: str | Iterable[str] = given.get(name) or own
        for node in () if isinstance(nodes, str) else nodes:
            _refuse(node, machine, nodes=graph.nodes, where=name)


def _refuse(node: str, machine: Machine, *, nodes: Iterable[str], where: str) -> None:
    if node not in nodes:
        raise InputRefused(
            f"There is no node `{node}` to stop at", where=where, fix=f"Nodes: {', '.join(sorted(nodes))}."
        )
    around = _parallel_around(node, machine)
    if around is not None:
        raise InputRefused(
            f"`{node}` is in a region of `{around}`, whose activities run inside the node `{HUB}`: it is no step to "
            "stop at",
            where=where,
            fix=f"Name `{HUB}`, which is visited for each step of any region, or let the state wait for an event.",
        )


def _parallel_around(node: str, machine: Machine) -> str | None:
    """Return the parallel state whose regions a node's state is in, or None."""
    chart = machine.chart
    state = chart.by_path.get(node.removesuffix(".wait").removesuffix(".ask"), chart.by_path.get(node))
    if state is None:
        return None
    inside = (chart.nodes[index] for index in chart.ancestors(state))
    # A state that is the only region runs as any other state.
    return next((outer.path for outer in inside if outer.kind == "parallel" and len(outer.children) > 1), None)
