"""Timing: keys of the state that two regions may write, and whose value then depends on which of them is first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from stateward.chart.definition import Definition
from stateward.chart.finding import Finding, listed
from stateward.chart.graph import Graph

Writes = Mapping[int, frozenset[str] | None]
"""Per state with an activity: the keys it may write; None if that is not known."""


def timing(graph: Graph, *, writes: Writes, sensitive: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what depends on the order in which activities of different regions end.

    Args:
        graph: The chart's graph; of a coarse one nothing is said.
        writes: What each activity may write.
        sensitive: Per key whose value depends on the order of writes: why.
    """
    if not graph.exact or not graph.chart.tables.has_parallel:
        return
    vague: dict[int, tuple[int, int, int]] = {}
    for (one, other), number in _together(graph).items():
        around = _around(graph.chart, one, other)
        left, right = writes.get(one), writes.get(other)
        if left is None or right is None:
            known = sorted(key for key in left or right or frozenset[str]() if key in sensitive)
            if sensitive and (known or (left is None and right is None)):
                vague.setdefault(around, (one, other, number))
            continue
        reasons = {key: sensitive[key] for key in sorted(left & right) if key in sensitive}
        if reasons:
            yield _clash(graph, one, other, reasons=reasons, number=number)
    for around, (one, other, number) in sorted(vague.items()):
        yield _unknown(graph, around, one, other, writes=writes, number=number)


def _together(graph: Graph) -> dict[tuple[int, int], int]:
    """Return the pairs of activities that may run at the same time, each with the nearest standing where they do."""
    found: dict[tuple[int, int], int] = {}
    for number, standing in enumerate(graph.nodes):
        for pair in combinations(standing.running, 2):
            if pair not in found or graph.distances[number] < graph.distances[found[pair]]:
                found[pair] = number
    return dict(sorted(found.items()))


def _around(chart: Definition, one: int, other: int) -> int:
    """Return the parallel state in whose regions two states are."""
    around = set(chart.tables.ancestors[other])
    return next(state for state in chart.tables.ancestors[one] if state in around)


def _clash(graph: Graph, one: int, other: int, *, reasons: Mapping[str, str], number: int) -> Finding:
    paths, keys = graph.paths((one, other)), listed(tuple(reasons))
    why = "; ".join(f"`{key}`: {reason}" for key, reason in reasons.items())
    return Finding(
        rule="timing",
        severity="warning",
        path=graph.chart.nodes[_around(graph.chart, one, other)].path,
        message=f"{listed(paths)} run at the same time and both write {keys}, so the result depends on which ends "
        f"first ({why}).",
        witness=graph.hops(graph.way(number)),
    )


def _unknown(graph: Graph, around: int, one: int, other: int, *, writes: Writes, number: int) -> Finding:
    open_ones = graph.paths([state for state in (one, other) if writes.get(state) is None])
    return Finding(
        rule="timing",
        severity="note",
        path=graph.chart.nodes[around].path,
        message=f"{listed(graph.paths((one, other)))} run at the same time, and it is not known which keys "
        f"{listed(open_ones)} may write: return types that name them (a TypedDict of the keys) let this be checked.",
        witness=graph.hops(graph.way(number)),
    )
