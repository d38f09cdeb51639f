"""Races: regions that react to one event in ways that exclude each other, so that document order decides."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from stateward.chart.definition import Definition, Transition
from stateward.chart.finding import Finding, spoken
from stateward.chart.graph import Edge, Graph
from stateward.chart.selection import exit_set, reacts
from stateward.chart.standing import Standing


def races(graph: Graph) -> Iterator[Finding]:
    """Yield each pair of transitions that the same event enables and that leave a common state.

    Args:
        graph: The chart's graph; of a coarse one nothing is said.

    Source: SCXML appendix D, removeConflictingTransitions.
    """
    if not graph.exact or not graph.chart.tables.has_parallel:
        return
    found: set[tuple[int, int]] = set()
    seen: set[tuple[tuple[int, ...], str]] = set()
    for edge in graph.in_order:
        if edge.source < 0:
            continue
        standing = graph.nodes[edge.source]
        key = (standing.active, edge.event)
        if key in seen:
            continue
        seen.add(key)
        for first, second in _rivals(graph.chart, standing, edge=edge):
            pair = (first.index, second.index)
            if pair not in found:
                found.add(pair)
                yield _race(graph, first, second, edge=edge)


def _rivals(chart: Definition, standing: Standing, *, edge: Edge) -> Iterator[tuple[Transition, Transition]]:
    atoms = [state for state in standing.active if state in chart.tables.atoms]
    tried = [_tried(chart, atom, event=edge.event) for atom in atoms]
    for before, after in combinations(tried, 2):
        for first in before:
            for second in after:
                if _exclude(chart, first, second, standing=standing):
                    yield first, second


def _tried(chart: Definition, atom: int, *, event: str) -> list[Transition]:
    """Return what an innermost state may have taken for an event: up to the first without guard."""
    tried: list[Transition] = []
    table = chart.tables.triggered if event else chart.tables.always
    for transition in table[atom]:
        if not event or reacts(transition, name=event, fresh=True):
            tried.append(transition)
            if transition.guard is None:
                break
    return tried


def _exclude(chart: Definition, first: Transition, second: Transition, *, standing: Standing) -> bool:
    one, other = first.source, second.source
    if first is second or one == other or chart.is_descendant(one, of=other) or chart.is_descendant(other, of=one):
        return False
    memory = dict(standing.memory)
    leaves = [set(exit_set(chart, t, active=standing.active, memory=memory)) for t in (first, second)]
    return not leaves[0].isdisjoint(leaves[1])


def _race(graph: Graph, first: Transition, second: Transition, *, edge: Edge) -> Finding:
    arrows = [graph.chart.tables.arrows[transition.index] for transition in (first, second)]
    cause = f"`{spoken(edge.event)}`" if edge.event else "no event at all"
    guarded = " if both guards are true" if first.guard and second.guard else ""
    return Finding(
        rule="race",
        severity="warning",
        path=graph.chart.nodes[first.source].path,
        message=f"`{arrows[0]}` and `{arrows[1]}` both answer {cause} and exclude each other{guarded}: "
        "the first is taken, because it stands first.",
        witness=graph.hops(graph.way(edge.source)),
    )
