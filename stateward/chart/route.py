"""The way from one set of active states to the next: which states transitions leave and enter, in which order.

No function of the author's has a say in it, only the chart, the active states and what history remembers. So a route is
worked out once and then looked up: a step costs what the author's functions cost, and the depth of the chart.
"""

from __future__ import annotations

from collections.abc import Sequence

from stateward.chart.definition import Block, Definition, Node, Plan, Remembered, Route, Stop, Transition
from stateward.chart.delay import Cancel
from stateward.chart.entry import Memory, plan
from stateward.chart.selection import domain_of, inside

MOST_ROUTES = 16_384
"""How many are kept; parallel states have more combinations than are worth it."""


def route(chart: Definition, taken: Sequence[Transition], *, active: tuple[int, ...], memory: Memory) -> Route:
    """Return what taking transitions together comes to.

    Args:
        chart: The chart, which keeps what was worked out.
        taken: The transitions, conflicts between them resolved; none for the start of the chart.
        active: The active states.
        memory: What history states stand for.

    Source: SCXML appendix D, microstep.
    """
    known = chart.tables.routes
    indexes = tuple([transition.index for transition in taken])
    key = (indexes, active, _remembered(chart, indexes, memory=memory))
    found = known.get(key)
    if found is None:
        if len(known) >= MOST_ROUTES:
            known.clear()
        found = known[key] = _work_out(chart, taken, active=active, memory=memory)
    return found


def _remembered(chart: Definition, transitions: tuple[int, ...], *, memory: Memory) -> Remembered:
    asked = chart.tables.asked
    return tuple([memory.get(history) for index in transitions for history in asked[index]])


def _work_out(chart: Definition, taken: Sequence[Transition], *, active: tuple[int, ...], memory: Memory) -> Route:
    domains = [domain_of(chart, transition, memory=memory) for transition in taken]
    leaving = sorted({state for within in domains for state in inside(chart, within, active=active)}, reverse=True)
    kept = _kept(chart, leaving, active=active)
    # Planned after the exits, whose history it has to see.
    known = {**memory, **kept}
    plans = [_plan(chart, t, within=within, memory=known) for t, within in zip(taken, domains, strict=True)]
    entering: Plan = tuple(sorted((e for plan in plans for e in plan), key=_state_of)) if taken else chart.tables.start
    between = tuple([state for state in active if state not in leaving])
    after = tuple(sorted({*between}.union([state for state, _ in entering])))
    exits, entries = _exits(chart, leaving, active=active), _entries(chart, entering, between=between)
    cancels = tuple([Cancel(id=t.events[0]) for state in leaving for t in chart.tables.timers[state]])
    ends = [state for state, _ in entering if state in chart.tables.finals]
    return Route(
        exited=tuple(leaving),
        kept=kept,
        exits=exits,
        cancels=cancels,
        between=between,
        entered=tuple([state for state, _ in entering]),
        entries=entries,
        active=after,
        atoms=tuple([state for state in after if state in chart.tables.atoms]),
        started=tuple([state for state, _ in entering if chart.nodes[state].activity]),
        silent=not exits and not cancels and all(_ends_silently(chart, stop) for stop in entries),
        final=bool(ends),
    )


def _plan(chart: Definition, transition: Transition, *, within: int, memory: Memory) -> Plan:
    known = chart.tables.plans[transition.index]
    return plan(chart.nodes, targets=transition.targets, within=within, memory=memory) if known is None else known


def _kept(chart: Definition, leaving: Sequence[int], *, active: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
    """Return what the histories of the states left have to remember. Source: SCXML appendix D, exitStates."""
    histories = [chart.nodes[history] for state in leaving for history in chart.tables.histories[state]]
    return {history.index: _remembers(chart, history, active=active) for history in histories}


def _remembers(chart: Definition, history: Node, *, active: tuple[int, ...]) -> tuple[int, ...]:
    within = inside(chart, history.parent, active=active)
    if history.deep:
        return tuple([state for state in within if state in chart.tables.atoms])
    return tuple([state for state in within if chart.nodes[state].parent == history.parent])


def _exits(chart: Definition, leaving: Sequence[int], *, active: tuple[int, ...]) -> tuple[Stop, ...]:
    """Return where exit actions run; a state is active while its own do, and those left before it are not."""
    stops: list[Stop] = []
    for state in leaving:
        if chart.nodes[state].exit:
            still = tuple([each for each in active if each <= state or each not in leaving])
            stops.append(Stop(state=state, blocks=(chart.nodes[state].exit,), active=still))
    return tuple(stops)


def _entries(chart: Definition, entering: Plan, *, between: tuple[int, ...]) -> tuple[Stop, ...]:
    """Return where something happens on the way in; what was entered before is active, what comes after is not."""
    stops: list[Stop] = []
    active = {*between}
    for state, blocks in entering:
        active.add(state)
        if blocks or chart.tables.timers[state] or _announces(chart, chart.nodes[state]):
            stops.append(Stop(state=state, blocks=blocks, active=tuple(sorted(active))))
    return tuple(stops)


def _announces(chart: Definition, node: Node) -> bool:
    """Tell whether entering a state completes something: what is around it, or itself."""
    return node.kind == "final" or (node.kind == "atomic" and node.activity is None and has_completion(chart, node))


def has_completion(chart: Definition, node: Node) -> bool:
    """Tell whether a state has `to`: transitions that react to its own completion.

    Args:
        chart: The chart.
        node: The state.
    """
    return any(chart.transitions[index].kind == "completion" for index in node.transitions)


def _ends_silently(chart: Definition, stop: Stop) -> bool:
    final = stop.state in chart.tables.finals and chart.nodes[stop.state].data is None
    return final and not stop.blocks and not chart.tables.timers[stop.state]


def _state_of(entry: tuple[int, tuple[Block, ...]]) -> int:
    return entry[0]
