"""The chart as LangChain's drawable graph: what `get_graph`, the dev server and Studio show.

A colon in a node's id makes LangChain's Mermaid drawing group it, so the path `WORKING.PLAN` becomes `WORKING:PLAN`.
That drawing leaves out a group that has no edge of its own, and refuses two groups of one name. So a state that only
holds other groups, as a parallel state does, gets a node through which it is entered, and a repeated name a number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from langchain_core.runnables.graph import Edge, Graph, Node

from stateward.chart.definition import Definition, Transition
from stateward.chart.label import label
from stateward.run.plan import Machine

_START = "__start__"
_END = "__end__"
_FORK = "(enter)"
"""The node through which all regions are entered."""
_JOIN = "(join)"
"""The node at which all regions have ended."""


def drawable(machine: Machine) -> Graph:
    """Make the drawable graph of a lowered chart.

    Args:
        machine: The lowered chart.

    Returns:
        States as nodes grouped by superstate and region, transitions as labelled edges, timers and generated `ask`
        substates included. What leaves no state is left out: an edge from a node to itself would say the opposite.
    """
    asking = [index for index, plan in machine.plans.items() if plan.can_ask]
    drawn = _Drawn(machine.chart, asking=asking)
    drawn.edges += [Edge(source=_START, target=name) for name in drawn.entered(0)]
    for index in drawn.gates:
        drawn.gate(index)
    for transition in machine.chart.transitions:
        drawn.edges.extend(drawn.arrows(transition))
    drawn.edges += [Edge(source=drawn.ids[index], target=_END) for index in machine.chart.tables.finals]
    for index in asking:
        drawn.ask(index)
    first, last = (Node(id=name, name=name, data=None, metadata=None) for name in (_START, _END))
    return Graph(nodes={node.id: node for node in (first, *drawn.nodes, last)}, edges=_loops_joined(drawn.edges))


class _Drawn:
    def __init__(self, chart: Definition, *, asking: Collection[int]) -> None:
        self.chart = chart
        self.ids = _ids(chart, asking=asking)
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.gates = [node.index for node in chart.nodes[1:] if _only_groups(chart, node.index)]
        for node in chart.nodes:
            if node.kind in ("atomic", "final"):
                self.add(self.ids[node.index], node.name)

    def add(self, name: str, shown: str) -> str:
        self.nodes.append(Node(id=name, name=shown, data=None, metadata=None))
        return name

    def gate(self, index: int) -> None:
        """Draw how a state that only holds groups is entered, and how its regions come together."""
        node = self.chart.nodes[index]
        fork = self.add(f"{self.ids[index]}:{_FORK}", node.name)
        self.edges += [Edge(source=fork, target=name) for name in self.inside(index)]
        if node.kind == "parallel" and any(self.chart.transitions[t].kind == "completion" for t in node.transitions):
            join = self.add(f"{self.ids[index]}:{_JOIN}", "all done")
            finals = [child for child in range(index, node.end) if self.chart.nodes[child].kind == "final"]
            ends = [self.ids[final] for final in finals if _completes(self.chart, final, index)]
            self.edges += [Edge(source=name, target=join) for name in ends]

    def ask(self, index: int) -> None:
        """Draw the generated substate in which a person is waited for."""
        name = self.ids[index]
        ask = self.add(f"{name}:ask", "ask")
        self.edges.append(Edge(source=name, target=ask, data="needs a person", conditional=True))
        self.edges.append(Edge(source=ask, target=name, data="answered"))

    def arrows(self, transition: Transition) -> Iterator[Edge]:
        conditional = transition.kind != "completion" or transition.guard is not None
        text = label(transition) or None
        for source in self.sources(transition):
            for target in transition.targets:
                for entered in self.entered(target):
                    yield Edge(source=source, target=entered, data=text, conditional=conditional)

    def sources(self, transition: Transition) -> list[str]:
        """A superstate's transition is drawn from the states inside it; its completion from where it ends."""
        node = self.chart.nodes[transition.source]
        inside = range(node.index, node.end)
        if transition.kind == "completion" and node.kind == "parallel":
            return [f"{self.ids[node.index]}:{_JOIN}"]
        if transition.kind == "completion" and node.kind == "compound":
            finals = (state for state in inside if self.chart.nodes[state].kind == "final")
            return [self.ids[state] for state in finals if _completes(self.chart, state, node.index)]
        return [self.ids[state] for state in inside if self.chart.nodes[state].kind == "atomic"]

    def entered(self, state: int) -> list[str]:
        node = self.chart.nodes[state]
        if node.kind in ("atomic", "final"):
            return [self.ids[state]]
        if node.kind == "history":
            return [name for target in node.default for name in self.entered(target)]
        return [f"{self.ids[state]}:{_FORK}"] if state in self.gates else self.inside(state)

    def inside(self, state: int) -> list[str]:
        node = self.chart.nodes[state]
        targets = node.initial if node.kind == "compound" else _regions(self.chart, state)
        return [name for target in targets for name in self.entered(target)]


def _loops_joined(edges: Sequence[Edge]) -> list[Edge]:
    """Join the edges from a node to itself: two of them would be drawn as a group."""
    joined: dict[object, Edge] = {}
    for number, edge in enumerate(edges):
        key = edge.source if edge.source == edge.target else number
        known = joined.get(key)
        joined[key] = edge if known is None else edge._replace(data=f"{known.data}; {edge.data}", conditional=True)
    return list(joined.values())


def _ids(chart: Definition, *, asking: Collection[int]) -> dict[int, str]:
    ids = {0: ""}
    groups: set[str] = set()
    for node in chart.nodes[1:]:
        name = node.name
        if node.kind in ("compound", "parallel") or node.index in asking:
            name = f"{name}_{node.index}" if name in groups else name
            groups.add(name)
        ids[node.index] = f"{ids[node.parent]}:{name}" if ids[node.parent] else name
    return ids


def _regions(chart: Definition, state: int) -> list[int]:
    return [child for child in chart.nodes[state].children if chart.nodes[child].kind != "history"]


def _only_groups(chart: Definition, state: int) -> bool:
    """Tell whether no edge can lie directly in a state: between regions, or beside a single superstate."""
    inside = _regions(chart, state)
    return chart.nodes[state].kind == "parallel" or (
        chart.nodes[state].kind == "compound"
        and len(inside) == 1
        and chart.nodes[inside[0]].kind in ("compound", "parallel")
    )


def _completes(chart: Definition, final: int, state: int) -> bool:
    """Tell whether a final state counts for the completion of a state around it: through regions only."""
    around = chart.ancestors(final, upto=state)
    return all(chart.nodes[chart.nodes[region].parent].kind == "parallel" for region in around)
