"""What can be said of a chart before any run: what cannot be reached, cannot be left, never ends, is never taken.

Unknown targets are not among the findings: a chart that names one cannot be built (`UnknownTarget`).
"""

from __future__ import annotations

from collections.abc import Iterator

from stateward.chart.alphabet import Fuses
from stateward.chart.circle import components
from stateward.chart.definition import Definition, Node
from stateward.chart.explore import DEFAULT_BOUND, explore
from stateward.chart.finding import Finding, listed
from stateward.chart.graph import Edge, Graph
from stateward.chart.race import races
from stateward.chart.unfired import shadowed, unfired


def check(chart: Definition, *, bound: int = DEFAULT_BOUND) -> tuple[Finding, ...]:
    """Return what is wrong with a chart, whatever its policies.

    Args:
        chart: The chart.
        bound: How many configurations to explore before a coarser graph is taken.
    """
    return structure(explore(chart, bound=bound))


def structure(graph: Graph, *, fuses: Fuses | None = None) -> tuple[Finding, ...]:
    """Return what is wrong with the structure of a chart, in document order within each rule.

    Guards are taken to be sometimes true and sometimes false, so what is reported holds whatever they say.

    Args:
        graph: The chart's graph.
        fuses: What can trip where; None to take every fuse for set.
    """
    return (
        *_bound(graph),
        *_unreachable(graph),
        *_dead_ends(graph),
        *_deadlocks(graph),
        *_traps(graph),
        *_no_end(graph),
        *_never_complete(graph),
        *_endless(graph),
        *_no_default(graph),
        *_unused_histories(graph),
        *_unset_histories(graph),
        *shadowed(graph.chart),
        *unfired(graph, fuses=fuses),
        *races(graph),
    )


def _bound(graph: Graph) -> Iterator[Finding]:
    if not graph.exact:
        yield Finding(
            rule="bound",
            severity="note",
            path="",
            message="The chart has more configurations than were to be explored, so innermost states were taken each "
            "for itself: what is found unreachable is so, but deadlocks, traps, races, timing and unset histories "
            "were not looked for, and properties may be undecided. A higher `--bound` explores more.",
        )


def _unreachable(graph: Graph) -> Iterator[Finding]:
    for node in graph.chart.nodes:
        if node.kind != "history" and node.index not in graph.ways_in and node.parent in graph.ways_in:
            yield Finding(
                rule="unreachable",
                severity="error",
                path=node.path,
                message=f"Nothing leads to `{node.path}`: add a transition to it, or remove it.",
            )


def _dead_ends(graph: Graph) -> Iterator[Finding]:
    for node in _dead(graph):
        if node.activity:
            message = f"When the activity of `{node.path}` has ended nothing follows: give it `to`."
        else:
            message = f"Nothing leads out of `{node.path}`: give it `to` or `on`, or make it a `Final`."
        yield Finding(
            rule="dead-activity" if node.activity else "dead-end",
            severity="error",
            path=node.path,
            message=message,
            witness=graph.hops(graph.to(graph.ways_in[node.index])),
        )


def _dead(graph: Graph) -> list[Node]:
    nodes = (node for node in graph.chart.nodes if node.kind == "atomic" and node.index in graph.ways_in)
    return [node for node in nodes if node.index not in graph.left]


def _deadlocks(graph: Graph) -> Iterator[Finding]:
    """Yield where nothing moves although every state could be left elsewhere."""
    if not graph.exact:
        return
    dead = {node.index for node in _dead(graph)}
    told: set[int] = set()
    for number, steps in enumerate(graph.steps):
        standing = graph.nodes[number]
        ends = not graph.chart.tables.finals.isdisjoint(standing.active)
        if ends or not standing.rests or not dead.isdisjoint(standing.active) or any(e.moves for e in steps):
            continue
        around = next((s for s in standing.active if graph.chart.nodes[s].kind == "parallel"), standing.active[-1])
        if around not in told:
            told.add(around)
            yield _deadlock(graph, number, around=around)


def _deadlock(graph: Graph, number: int, *, around: int) -> Finding:
    path = graph.chart.nodes[around].path
    return Finding(
        rule="deadlock",
        severity="error",
        path=path,
        message=f"`{path}` can come to stand where nothing moves it: {listed(graph.paths(graph.atoms(number)))}.",
        witness=graph.hops(graph.way(number)),
    )


def _traps(graph: Graph) -> Iterator[Finding]:
    """Yield the circles from which no final state can be reached, if another way would have led to one."""
    finals = graph.chart.tables.finals
    if not graph.exact or finals.isdisjoint(graph.ways_in):
        return
    parts = components([[edge.target for edge in steps if edge.target >= 0] for steps in graph.steps])
    home = {number: place for place, part in enumerate(parts) for number in part}
    dead = {node.index for node in _dead(graph)}
    for place, part in enumerate(parts):
        inside = [graph.nodes[number] for number in part]
        leads_out = any(home[e.target] != place for n in part for e in graph.steps[n] if e.target >= 0)
        ends = any(not (finals | dead).isdisjoint(standing.active) for standing in inside)
        moves = any(edge.moves for number in part for edge in graph.steps[number] if edge.target >= 0)
        if not leads_out and not ends and moves:
            first = min(part, key=lambda number: (graph.distances[number], number))
            path = graph.paths(graph.atoms(first))[-1]
            yield Finding(
                rule="trap",
                severity="warning",
                path=path,
                message=f"From `{path}` on the chart goes in a circle and can no longer end.",
                witness=graph.hops(graph.way(first)),
            )


def _no_end(graph: Graph) -> Iterator[Finding]:
    finals = sorted(graph.chart.tables.finals)
    if finals and graph.chart.tables.finals.isdisjoint(graph.ways_in):
        names = listed(graph.paths(finals))
        yield Finding(
            rule="no-end", severity="error", path="", message=f"The chart never ends: {names} cannot be reached."
        )


def _never_complete(graph: Graph) -> Iterator[Finding]:
    for node in graph.chart.nodes:
        waits = any(graph.chart.transitions[index].kind == "completion" for index in node.transitions)
        composite = node.kind in ("compound", "parallel")
        if not waits or not composite or node.index not in graph.ways_in or node.index in graph.completed:
            continue
        why = "no `Final` inside it can be reached" if node.kind == "compound" else "its regions are never all complete"
        yield Finding(
            rule="never-completes",
            severity="error",
            path=node.path,
            message=f"`{node.path}` has `to`, but {why}.",
            witness=graph.hops(graph.to(graph.ways_in[node.index])),
        )


def _endless(graph: Graph) -> Iterator[Finding]:
    told: set[tuple[int, ...]] = set()
    for edge in graph.in_order:
        states = tuple(sorted({state for micro in edge.microsteps[-2:] for state in micro.entered}))
        if edge.endless and states not in told:
            told.add(states)
            names = listed(graph.paths(states))
            yield Finding(
                rule="endless",
                severity="error",
                path=graph.chart.nodes[states[-1]].path if states else "",
                message=f"A step goes round in {names} without an event and without an action that could change a "
                "guard: `fuse.microsteps` would end the run.",
                witness=graph.hops(graph.to(edge)),
            )


def _no_default(graph: Graph) -> Iterator[Finding]:
    told: set[int] = set()
    for edge in graph.in_order:
        for state in edge.stuck:
            if state not in told:
                told.add(state)
                path = graph.chart.nodes[state].path
                yield Finding(
                    rule="no-default",
                    severity="warning",
                    path=path,
                    message=f"If no guard of its `to` is true when `{path}` is complete, the run fails: "
                    "end the list with a bare target.",
                    witness=graph.hops(graph.to(edge)),
                )


def _unused_histories(graph: Graph) -> Iterator[Finding]:
    chart = graph.chart
    used = {target for transition in chart.transitions for target in transition.targets}
    used |= {target for node in chart.nodes for target in node.initial}
    for node in chart.nodes:
        if node.kind == "history" and node.index not in used:
            parent = chart.nodes[node.parent].path
            yield Finding(
                rule="unused-history",
                severity="warning",
                path=parent,
                message=f"`{parent}` remembers, but no transition targets `History({parent!r})`.",
            )


def _unset_histories(graph: Graph) -> Iterator[Finding]:
    """Yield the transitions to a history that are only ever taken before there is anything to remember."""
    if not graph.exact or not graph.chart.tables.has_history:
        return
    early: dict[int, Edge] = {}
    late: set[int] = set()
    for edge in graph.in_order:
        for index, history, is_set in _uses(graph, edge):
            early.setdefault(index, edge)
            if is_set:
                late.add(index)
            elif index not in late:
                early[index] = min(early[index], edge, key=graph.far)
            del history
    for index in sorted(early.keys() - late):
        yield _unset(graph, index, edge=early[index])


def _uses(graph: Graph, edge: Edge) -> Iterator[tuple[int, int, bool]]:
    """Yield the transitions of a step that lead to a history, with whether it was set."""
    nodes = graph.chart.nodes
    known = {history for history, _ in graph.nodes[edge.source].memory} if edge.source >= 0 else set[int]()
    for micro in edge.microsteps:
        known.update(history for state in micro.exited for history in graph.chart.tables.histories[state])
        for index in micro.transitions:
            for target in graph.chart.transitions[index].targets:
                if nodes[target].kind == "history":
                    yield index, target, target in known


def _unset(graph: Graph, index: int, *, edge: Edge) -> Finding:
    transition = graph.chart.transitions[index]
    history = next(t for t in transition.targets if graph.chart.nodes[t].kind == "history")
    parent = graph.chart.nodes[graph.chart.nodes[history].parent].path
    return Finding(
        rule="unset-history",
        severity="warning",
        path=graph.chart.nodes[transition.source].path,
        message=f"`History({parent!r})` is asked only before `{parent}` was ever left, "
        "so it always leads to its beginning.",
        witness=graph.hops(graph.to(edge)),
    )
