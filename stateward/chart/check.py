"""What can be said of a chart before any run: what cannot be reached, cannot be left, never ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from stateward.chart.definition import Definition, Node, Transition
from stateward.chart.entry import domain, plan

Severity = Literal["error", "warning"]
"""How bad a finding is.

error: the chart cannot do what it says.
warning: it can, but something in it has no effect.
"""

Rule = Literal["unreachable", "dead-end", "dead-activity", "no-end", "never-completes", "unused-history", "shadowed"]
"""What a finding is about.

unreachable: no path from the start enters the state.
dead-end: the chart can enter the state, and nothing can ever lead out of it.
dead-activity: a state's activity ends, and nothing follows.
no-end: the chart has final states at the top, but none can be reached.
never-completes: a superstate has `to`, but none of its final states can be reached.
unused-history: a superstate remembers, but no transition asks.
shadowed: an unguarded transition before it is always taken.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing wrong with a chart."""

    rule: Rule
    severity: Severity
    path: str
    message: str
    witness: tuple[str, ...] = ()
    """The states entered one after the other on a shortest way to `path`; empty if there is none."""


def check(chart: Definition) -> tuple[Finding, ...]:
    """Return what is wrong with a chart, in document order within each rule.

    Guards are taken to be sometimes true, so what is reported holds whatever they say.
    """
    ways = _ways(chart)
    findings = (
        *_unreachable(chart, ways),
        *_dead_ends(chart, ways),
        *_endless(chart, ways),
        *_never_complete(chart, ways),
        *_unused_histories(chart),
        *_shadowed(chart),
    )
    return tuple(findings)


Ways = Mapping[int, tuple[str, ...]]
"""Per state that can be entered: a shortest way to it."""


def _ways(chart: Definition) -> Ways:
    ways: dict[int, tuple[str, ...]] = {}
    queue: deque[int] = deque()

    def enter(states: tuple[int, ...], way: tuple[str, ...]) -> None:
        for state in states:
            if state not in ways:
                path = chart.nodes[state].path
                ways[state] = (*way, path) if path else way
                queue.append(state)

    enter(tuple(state for state, _ in chart.tables.start), ())
    while queue:
        state = queue.popleft()
        for index in chart.nodes[state].transitions:
            transition = chart.transitions[index]
            if _can_fire(chart, transition, ways):
                enter(_entered(chart, transition), _way_to_fire(chart, transition, ways))
        queue.extend(_woken(chart, state))
    return ways


def _woken(chart: Definition, state: int) -> tuple[int, ...]:
    """Return the states to look at again because a final state inside them was reached."""
    return chart.tables.ancestors[state] if chart.nodes[state].kind == "final" else ()


def _can_fire(chart: Definition, transition: Transition, ways: Ways) -> bool:
    if transition.kind != "completion":
        return True
    node = chart.nodes[transition.source]
    return node.kind == "atomic" or _can_complete(chart, node, ways)


def _way_to_fire(chart: Definition, transition: Transition, ways: Ways) -> tuple[str, ...]:
    node = chart.nodes[transition.source]
    if transition.kind != "completion" or node.kind != "compound":
        return ways[node.index]
    ends = [ways[child] for child in node.children if chart.nodes[child].kind == "final" and child in ways]
    return min(ends, key=len)


def _can_complete(chart: Definition, node: Node, ways: Ways) -> bool:
    children = [chart.nodes[child] for child in node.children if chart.nodes[child].kind != "history"]
    if node.kind == "parallel":
        return all(_can_complete(chart, child, ways) for child in children)
    return any(child.kind == "final" and child.index in ways for child in children)


def _entered(chart: Definition, transition: Transition) -> tuple[int, ...]:
    within = domain(chart.nodes, transition=transition, memory={})
    entering = plan(chart.nodes, targets=transition.targets, within=within, memory={})
    return tuple(state for state, _ in entering)


def _unreachable(chart: Definition, ways: Ways) -> Iterator[Finding]:
    for node in chart.nodes:
        if node.kind != "history" and node.index not in ways and node.parent in ways:
            yield Finding(
                rule="unreachable",
                severity="error",
                path=node.path,
                message=f"Nothing leads to `{node.path}`: add a transition to it, or remove it.",
            )


def _dead_ends(chart: Definition, ways: Ways) -> Iterator[Finding]:
    for node in chart.nodes:
        if node.kind != "atomic" or node.index not in ways or _can_leave(chart, node):
            continue
        if node.activity:
            message = f"When the activity of `{node.path}` has ended nothing follows: give it `to`."
        else:
            message = f"Nothing leads out of `{node.path}`: give it `to` or `on`, or make it a `Final`."
        yield Finding(
            rule="dead-activity" if node.activity else "dead-end",
            severity="error",
            path=node.path,
            message=message,
            witness=ways[node.index],
        )


def _can_leave(chart: Definition, node: Node) -> bool:
    for state in (node.index, *chart.tables.ancestors[node.index]):
        for index in chart.nodes[state].transitions:
            transition = chart.transitions[index]
            if transition.targets and (state == node.index or _leads_away(chart, transition, node)):
                return True
    return False


def _leads_away(chart: Definition, transition: Transition, node: Node) -> bool:
    """Tell whether a transition of a state around `node` leads from it to another state."""
    return transition.kind != "completion" and node.index not in _entered(chart, transition)


def _endless(chart: Definition, ways: Ways) -> Iterator[Finding]:
    finals = [chart.nodes[child] for child in chart.nodes[0].children if chart.nodes[child].kind == "final"]
    if finals and not any(final.index in ways for final in finals):
        names = ", ".join(f"`{final.path}`" for final in finals)
        yield Finding(
            rule="no-end",
            severity="error",
            path="",
            message=f"The chart never ends: {names} cannot be reached.",
        )


def _never_complete(chart: Definition, ways: Ways) -> Iterator[Finding]:
    for node in chart.nodes:
        waits = any(chart.transitions[t].kind == "completion" for t in node.transitions)
        composite = node.kind in ("compound", "parallel")
        if waits and composite and node.index in ways and not _can_complete(chart, node, ways):
            yield Finding(
                rule="never-completes",
                severity="error",
                path=node.path,
                message=f"`{node.path}` has `to`, but no `Final` inside it can be reached.",
                witness=ways[node.index],
            )


def _unused_histories(chart: Definition) -> Iterator[Finding]:
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


def _shadowed(chart: Definition) -> Iterator[Finding]:
    for node in chart.nodes:
        always_taken: set[tuple[str, tuple[str, ...]]] = set()
        for index in node.transitions:
            transition = chart.transitions[index]
            trigger = (transition.kind, transition.events)
            if trigger in always_taken:
                targets = ", ".join(f"`{chart.nodes[target].path}`" for target in transition.targets) or "nowhere"
                yield Finding(
                    rule="shadowed",
                    severity="warning",
                    path=node.path,
                    message=f"The transition to {targets} is never taken: one without guard comes first.",
                )
            if transition.guard is None:
                always_taken.add(trigger)
