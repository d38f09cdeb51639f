"""Circles: parts of a graph that a run can go round in for ever."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

from stateward.chart.graph import Edge, Graph, Way

Allowed = Callable[[Edge], bool]
"""Which steps are looked at."""


def circles(graph: Graph, *, allowed: Allowed, rather: Allowed | None = None) -> Iterator[Way]:
    """Yield one circle of each part of the graph that can be gone round in.

    Args:
        graph: The graph.
        allowed: The steps a circle may have.
        rather: Steps to have in it if there is one in that part; None if any circle will do.

    Returns:
        Ways that end where they begin, nearest to the beginning of a run first.
    """
    steps = [[edge for edge in edges if edge.target >= 0 and allowed(edge)] for edges in graph.steps]
    parts = components([[edge.target for edge in edges] for edges in steps])
    found: list[tuple[int, Way]] = []
    for part in parts:
        inside = frozenset(part)
        within = {number: [edge for edge in steps[number] if edge.target in inside] for number in part}
        edges = [edge for number in part for edge in within[number]]
        if edges:
            wanted = [edge for edge in edges if rather is not None and rather(edge)] or edges
            first = min(wanted, key=lambda edge: (graph.distances[edge.source], edge.source))
            found.append((graph.distances[first.source], _closed(first, within)))
    yield from (way for _, way in sorted(found, key=lambda one: one[0]))


def _closed(first: Edge, steps: Mapping[int, Sequence[Edge]]) -> Way:
    """Return a step with a shortest way back to where it begins."""
    last: dict[int, Edge] = {first.target: first}
    line = deque([first.target])
    while first.source not in last:
        for edge in steps[line.popleft()]:
            if edge.target not in last:
                last[edge.target] = edge
                line.append(edge.target)
    way: list[Edge] = []
    number = first.source
    while not way or way[-1] is not first:
        way.append(last[number])
        number = way[-1].source
    return tuple(reversed(way))


def components(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the strongly connected components of a graph, those nothing leads out of first.

    Args:
        successors: Per node, where it leads.

    Source: Tarjan, Depth-first search and linear graph algorithms, 1972; without recursion.
    """
    search = _Tarjan(successors)
    for root in range(len(successors)):
        search.visit(root)
    return search.found


class _Tarjan:
    def __init__(self, successors: Sequence[Sequence[int]]) -> None:
        self._successors = successors
        self._number: dict[int, int] = {}
        self._low: dict[int, int] = {}
        self._stack: list[int] = []
        self._on_stack: set[int] = set()
        self.found: list[list[int]] = []

    def visit(self, root: int) -> None:
        """Search from a node, unless it was found before."""
        if root in self._number:
            return
        line = [(root, iter(self._successors[root]))]
        self._enter(root)
        while line:
            node, rest = line[-1]
            ahead = next((each for each in rest if self._looks_at(node, each)), None)
            if ahead is None:
                line.pop()
                self._leave(node, back=line[-1][0] if line else None)
            else:
                self._enter(ahead)
                line.append((ahead, iter(self._successors[ahead])))

    def _looks_at(self, node: int, ahead: int) -> bool:
        """Tell whether a node is new; else learn from it."""
        if ahead not in self._number:
            return True
        if ahead in self._on_stack:
            self._low[node] = min(self._low[node], self._number[ahead])
        return False

    def _enter(self, node: int) -> None:
        self._number[node] = self._low[node] = len(self._number)
        self._stack.append(node)
        self._on_stack.add(node)

    def _leave(self, node: int, *, back: int | None) -> None:
        if back is not None:
            self._low[back] = min(self._low[back], self._low[node])
        if self._low[node] != self._number[node]:
            return
        part: list[int] = []
        while not part or part[-1] != node:
            part.append(self._stack.pop())
        self._on_stack.difference_update(part)
        self.found.append(part)
