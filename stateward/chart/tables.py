"""From nodes and transitions to a definition: everything a step can be spared is worked out here, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stateward.chart.arrow import arrows
from stateward.chart.definition import Definition, Node, Plan, Tables, Transition
from stateward.chart.entry import domain, plan
from stateward.chart.event import Event

ACTIVITY_DONE = "done.activity."
"""The start of the event that says a state's activity has ended; the state's path follows."""
STATE_DONE = "done.state."
"""The start of the event that says a state is complete; its path follows."""


def define(
    name: str,
    *,
    nodes: Sequence[Node],
    transitions: Sequence[Transition],
    events: Mapping[str, type[Event] | None],
) -> Definition:
    """Return the frozen chart made of these states and transitions.

    Args:
        name: The chart's name.
        nodes: States in document order, `index` and `end` filled in, the root first.
        transitions: Transitions at their `index`, event descriptors in normal form.
        events: Every event named, with its type.
    """
    frozen = tuple(nodes)
    return Definition(
        name=name,
        nodes=frozen,
        transitions=tuple(transitions),
        by_path={node.path: node.index for node in frozen},
        events=dict(events),
        tables=_tabulate(name, frozen, tuple(transitions)),
    )


def _tabulate(name: str, nodes: tuple[Node, ...], transitions: tuple[Transition, ...]) -> Tables:
    ancestors = tuple(_ancestors(nodes, node) for node in nodes)
    domains = tuple(_domain(nodes, transition) for transition in transitions)
    return Tables(
        ancestors=ancestors,
        chains=tuple((*reversed(around), node.index) for node, around in zip(nodes, ancestors, strict=True)),
        atoms=frozenset(node.index for node in nodes if node.kind in ("atomic", "final")),
        finals=frozenset(node.index for node in nodes if node.kind == "final" and node.parent == 0),
        histories=tuple(_histories(nodes, node) for node in nodes),
        triggered=tuple(_candidates(nodes, transitions, chain=(n.index, *ancestors[n.index])) for n in nodes),
        always=tuple(_candidates(nodes, transitions, chain=(n.index, *ancestors[n.index]), always=True) for n in nodes),
        timers=tuple(tuple(transitions[t] for t in n.transitions if transitions[t].delay is not None) for n in nodes),
        domains=domains,
        plans=tuple(_plan(nodes, t, within) for t, within in zip(transitions, domains, strict=True)),
        start=plan(nodes, targets=(0,), within=-1, memory={}),
        completions=_completions(nodes),
        has_always=any(t.kind == "always" for t in transitions),
        has_history=any(node.kind == "history" for node in nodes),
        has_parallel=any(node.kind == "parallel" for node in nodes),
        has_timers=any(transition.delay is not None for transition in transitions),
        arrows=arrows(transitions, nodes=nodes, name=name),
        asked=_asked(nodes, transitions),
    )


def _ancestors(nodes: tuple[Node, ...], node: Node) -> tuple[int, ...]:
    around: list[int] = []
    while node.parent >= 0:
        node = nodes[node.parent]
        around.append(node.index)
    return tuple(around)


def _histories(nodes: tuple[Node, ...], node: Node) -> tuple[int, ...]:
    return tuple(child for child in node.children if nodes[child].kind == "history")


def _candidates(
    nodes: tuple[Node, ...],
    transitions: tuple[Transition, ...],
    *,
    chain: tuple[int, ...],
    always: bool = False,
) -> tuple[Transition, ...]:
    found = [transitions[index] for state in chain for index in nodes[state].transitions]
    return tuple(t for t in found if (t.kind == "always") is always)


def _domain(nodes: tuple[Node, ...], transition: Transition) -> int | None:
    if any(nodes[target].kind == "history" for target in transition.targets):
        return None
    return domain(nodes, transition=transition, memory={})


def _plan(nodes: tuple[Node, ...], transition: Transition, within: int | None) -> Plan | None:
    if within is None or _meets_history(nodes, targets=transition.targets, within=within):
        return None
    return plan(nodes, targets=transition.targets, within=within, memory={})


def _meets_history(nodes: tuple[Node, ...], *, targets: tuple[int, ...], within: int) -> bool:
    """Tell whether any default entry this transition could run through leads to a history state."""
    if not targets:
        return False
    last = nodes[within].end
    return any(nodes[target].kind == "history" for node in nodes[within:last] for target in (*targets, *node.initial))


def _asked(nodes: tuple[Node, ...], transitions: tuple[Transition, ...]) -> tuple[tuple[int, ...], ...]:
    """Return per transition the histories it targets; with those that default entries could lead to, if any."""
    met = tuple(t for node in nodes for t in (*node.initial, *node.default) if nodes[t].kind == "history")
    targeted = [tuple(t for t in transition.targets if nodes[t].kind == "history") for transition in transitions]
    return tuple((*mine, *met) for mine in targeted)


def _completions(nodes: tuple[Node, ...]) -> dict[str, int]:
    done = {STATE_DONE + node.path: node.index for node in nodes[1:]}
    return done | {ACTIVITY_DONE + node.path: node.index for node in nodes if node.activity}
