"""The chart as LangChain's drawable graph: what `get_graph`, the dev server and Studio show.

A colon in a node's id makes LangChain's Mermaid drawing group it, so the path `WORKING.PLAN` becomes `WORKING:PLAN`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from langchain_core.runnables.graph import Edge, Graph, Node

from stateward.chart.definition import Definition, Transition
from stateward.run.plan import Machine

_START = "__start__"
_END = "__end__"


def drawable(machine: Machine) -> Graph:
    """Make the drawable graph of a lowered chart.

    Args:
        machine: The lowered chart.

    Returns:
        States as nodes grouped by superstate, transitions as labelled edges, generated `ask` substates included.
    """
    chart = machine.chart
    shown = [node.index for node in chart.nodes if node.kind in ("atomic", "final")]
    names = {index: _id(chart.nodes[index].path) for index in shown}
    nodes = [Node(id=names[index], name=chart.nodes[index].name, data=None, metadata=None) for index in shown]
    edges = [Edge(source=_START, target=names[index]) for index in _entered(chart, 0)]
    for transition in chart.transitions:
        edges.extend(_arrows(chart, transition, names))
    edges.extend(Edge(source=names[index], target=_END) for index in shown if _is_end(chart, index))
    for index in shown:
        plan = machine.plans.get(index)
        if plan is not None and plan.can_ask:
            ask = _id(f"{chart.nodes[index].path}.ask")
            nodes.append(Node(id=ask, name="ask", data=None, metadata=None))
            edges.append(Edge(source=names[index], target=ask, data="needs a person", conditional=True))
            edges.append(Edge(source=ask, target=names[index], data="answered"))
    first, last = (Node(id=name, name=name, data=None, metadata=None) for name in (_START, _END))
    return Graph(nodes={node.id: node for node in (first, *nodes, last)}, edges=edges)


def _arrows(chart: Definition, transition: Transition, names: Mapping[int, str]) -> Iterator[Edge]:
    for source in _leaves(chart, transition.source):
        for target in _targets(chart, transition):
            yield Edge(
                source=names[source],
                target=names[target],
                data=_label(transition),
                conditional=_is_conditional(transition),
            )


def _is_end(chart: Definition, index: int) -> bool:
    return chart.nodes[index].kind == "final" and chart.nodes[index].parent == 0


def _id(path: str) -> str:
    head, _, rest = path.partition(".")
    return f"{head}:{rest.replace('.', ':')}" if rest else head


def _leaves(chart: Definition, state: int) -> list[int]:
    """A superstate's transition is drawn from the states inside it."""
    return [n.index for n in chart.nodes[state : chart.nodes[state].end] if n.kind == "atomic"]


def _entered(chart: Definition, state: int) -> list[int]:
    node = chart.nodes[state]
    if node.kind in ("atomic", "final"):
        return [state]
    following = node.default if node.kind == "history" else node.initial
    if node.kind == "parallel":
        following = tuple(child for child in node.children if chart.nodes[child].kind != "history")
    return [leaf for target in following for leaf in _entered(chart, target)]


def _targets(chart: Definition, transition: Transition) -> list[int]:
    return [leaf for target in transition.targets for leaf in _entered(chart, target)]


def _label(transition: Transition) -> str | None:
    event = ", ".join(transition.events) if transition.kind == "event" else ""
    guard = f"[{transition.guard_name}]" if transition.guard is not None else ""
    return " ".join(part for part in (event, guard) if part) or None


def _is_conditional(transition: Transition) -> bool:
    return transition.kind != "completion" or transition.guard is not None
