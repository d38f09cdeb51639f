"""Transitions that are nothing but a move: what they come to is worked out once and then looked up.

Most transitions of a chart without parallel states run no function of the author on their way, and history has no say
in them. Where such a one leads depends only on the transition and the active states.
"""

from __future__ import annotations

from stateward.chart.definition import Definition, Move, Node, Transition
from stateward.chart.selection import inside


def move(chart: Definition, transition: Transition, *, active: tuple[int, ...]) -> Move | None:
    """Return what taking a transition alone comes to; None if more happens on its way than leaving and entering.

    Args:
        chart: The chart; it keeps what was worked out.
        transition: The transition.
        active: The active states.
    """
    key = (transition.index, active)
    known = chart.tables.moves
    if key not in known:
        known[key] = _move(chart, transition, active=active)
    return known[key]


def _move(chart: Definition, transition: Transition, *, active: tuple[int, ...]) -> Move | None:
    tables = chart.tables
    within, plan = tables.domains[transition.index], tables.plans[transition.index]
    if tables.has_parallel or within is None or plan is None or transition.actions:
        return None
    exited = inside(chart, within, active=active)[::-1]
    entered = tuple([state for state, _ in plan])
    if any(blocks for _, blocks in plan) or not all(_is_silent(chart, state) for state in entered):
        return None
    if any(chart.nodes[state].exit or tables.histories[state] for state in exited):
        return None
    after = tuple(sorted({*active}.difference(exited).union(entered)))
    return Move(
        exited=exited,
        entered=entered,
        active=after,
        atoms=tuple([state for state in after if chart.is_atomic(state)]),
        started=tuple([state for state in entered if chart.nodes[state].activity]),
    )


def _is_silent(chart: Definition, state: int) -> bool:
    """Tell whether entering a state completes nothing."""
    node: Node = chart.nodes[state]
    completes = any(chart.transitions[index].kind == "completion" for index in node.transitions)
    return node.kind == "compound" or (node.kind == "atomic" and (node.activity is not None or not completes))
