"""Proofs of properties on the graph of a chart.

A safety property is proven by taking every way through the graph together with the property's mark. The standings of
the coarse graph say nothing of other regions, so there the steps of a chart with regions are taken in any order. What
is broken on the coarse graph may hold all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from stateward.chart.circle import circles
from stateward.chart.finding import Finding, Hop
from stateward.chart.graph import Edge, Graph, Way
from stateward.chart.property import BROKEN, Eventually, Property, Watcher, state_of

Bounded = Callable[[Edge], bool]
"""Whether a step cannot be taken again and again, because a fuse counts what it takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What is known of one property."""

    property: str
    holds: bool | None
    """None if it could be neither proven nor refuted."""
    path: str = ""
    """The state it is broken at."""
    message: str = ""
    witness: tuple[Hop, ...] = ()

    def finding(self) -> Finding | None:
        """Return what is to be reported of it, if anything."""
        if self.holds:
            return None
        return Finding(
            rule="undecided" if self.holds is None else "property",
            severity="warning" if self.holds is None else "error",
            path=self.path,
            message=f"`{self.property}` {self.message}",
            witness=self.witness,
        )


def prove(graph: Graph, property: Property, *, bounded: Bounded) -> Proof:
    """Prove or refute one property.

    Args:
        graph: The chart's graph.
        property: The property.
        bounded: Which steps a fuse bounds.

    Raises:
        UnknownTarget: The property names a state the chart does not have.
    """
    if isinstance(property, Eventually):
        return _eventually(graph, property, bounded=bounded)
    watcher = property.watch(graph.chart)
    if not graph.exact and graph.chart.tables.has_parallel:
        return _in_any_order(graph, watcher, name=str(property))
    way = _broken(graph, watcher)
    if way is None:
        return Proof(property=str(property), holds=True)
    message = "does not hold: the last step of this way breaks it."
    if not graph.exact:
        message = "may not hold: the last step of this way breaks it, if the chart can really go so."
    holds = False if graph.exact else None
    return Proof(property=str(property), holds=holds, path=_end(graph, way), message=message, witness=graph.hops(way))


def _broken(graph: Graph, watcher: Watcher) -> Way | None:
    """Return a shortest way that breaks a property."""
    last: dict[tuple[int, int], tuple[Edge, tuple[int, int]]] = {}
    line: list[tuple[int, int, tuple[int, int]]] = [(0, 0, (-1, 0))]
    turn = 0
    while line:
        far, _, here = heappop(line)
        number, mark = here
        for edge in graph.starts if number < 0 else graph.steps[number]:
            now = mark_after(watcher, mark, edge=edge)
            there = (edge.target, now)
            if now == BROKEN:
                return (*_way(last, here), edge)
            if edge.target >= 0 and there not in last:
                last[there] = (edge, here)
                turn += 1
                heappush(line, (far + bool(edge.event), turn, there))
    return None


def mark_after(watcher: Watcher, mark: int, *, edge: Edge) -> int:
    """Return a property's mark after a step.

    Args:
        watcher: Watches the property.
        mark: The mark before.
        edge: The step.
    """
    for micro in edge.microsteps:
        mark = watcher.after(mark, entered=micro.entered)
    return mark


def _way(last: dict[tuple[int, int], tuple[Edge, tuple[int, int]]], place: tuple[int, int]) -> Way:
    way: list[Edge] = []
    while place in last:
        edge, place = last[place]
        way.append(edge)
    return tuple(reversed(way))


def _in_any_order(graph: Graph, watcher: Watcher, *, name: str) -> Proof:
    marks, seen = {0}, set[int]()
    while marks - seen:
        mark = min(marks - seen)
        seen.add(mark)
        marks |= {mark_after(watcher, mark, edge=edge) for edge in graph.in_order}
    if BROKEN not in marks:
        return Proof(property=name, holds=True)
    message = "is undecided: the chart has too many configurations, and the coarse graph does not rule it out."
    return Proof(property=name, holds=None, message=message)


def _eventually(graph: Graph, property: Eventually, *, bounded: Bounded) -> Proof:
    name, state = str(property), state_of(property.state, chart=graph.chart)
    if state not in graph.ways_in:
        message = f"does not hold: `{graph.chart.nodes[state].path}` is never reached."
        return Proof(property=name, holds=False, path=graph.chart.nodes[state].path, message=message)
    if not graph.exact:
        message = "is undecided: the chart has too many configurations."
        return Proof(property=name, holds=None, message=message)
    without = _avoiding(graph, state)
    lost = _lost(graph, state, among=without)
    if lost is not None:
        way = _back(without, lost)
        return Proof(
            property=name,
            holds=False,
            path=_end(graph, way),
            message="does not hold: from where this way leads there is no way to it any more.",
            witness=graph.hops(way),
        )
    return _not_for_ever(graph, state, name=name, among=without, bounded=bounded)


def _avoiding(graph: Graph, state: int) -> dict[int, Edge]:
    """Return the standings that can be reached without the state, each with the last step of a shortest such way."""
    found: dict[int, Edge] = {}
    line: list[tuple[int, int, int]] = [(0, 0, -1)]
    turn = 0
    while line:
        far, _, number = heappop(line)
        for edge in graph.starts if number < 0 else graph.steps[number]:
            if edge.target >= 0 and edge.target not in found and not enters(edge, state):
                found[edge.target] = edge
                turn += 1
                heappush(line, (far + bool(edge.event), turn, edge.target))
    return found


def _back(last: Mapping[int, Edge], number: int) -> Way:
    way: list[Edge] = []
    while number >= 0:
        way.append(last[number])
        number = way[-1].source
    return tuple(reversed(way))


def enters(edge: Edge, state: int) -> bool:
    """Tell whether a step enters a state.

    Args:
        edge: The step.
        state: The state.
    """
    return any(state in micro.entered for micro in edge.microsteps)


def _lost(graph: Graph, state: int, *, among: Iterable[int]) -> int | None:
    """Return the nearest standing from which the state cannot be reached any more."""
    inside = set(among)
    back: dict[int, list[int]] = {}
    good: list[int] = []
    for number in inside:
        for edge in graph.steps[number]:
            if enters(edge, state):
                good.append(number)
            elif edge.target in inside:
                back.setdefault(edge.target, []).append(number)
    hopeful = set(good)
    while good:
        for number in back.get(good.pop(), ()):
            if number not in hopeful:
                hopeful.add(number)
                good.append(number)
    return min(inside - hopeful, key=lambda number: (graph.distances[number], number), default=None)


def _not_for_ever(graph: Graph, state: int, *, name: str, among: Mapping[int, Edge], bounded: Bounded) -> Proof:
    """Prove that no circle avoids the state for ever."""

    def goes_on(edge: Edge) -> bool:
        alone = edge.cause in ("activity", "time", "settling", "fuse")
        return alone and edge.source in among and not enters(edge, state) and not bounded(edge)

    for way in circles(graph, allowed=goes_on):
        if any(edge.event for edge in way):
            return Proof(
                property=name,
                holds=False,
                path=_end(graph, way),
                message="does not hold: nothing but guards bounds the circle at the end of this way, which avoids it.",
                witness=graph.hops((*_back(among, way[0].source), *way)),
            )
    return Proof(property=name, holds=True)


def _end(graph: Graph, way: Sequence[Edge]) -> str:
    edge = way[-1]
    if edge.target < 0:
        return ""
    return graph.chart.nodes[graph.atoms(edge.target)[-1]].path
