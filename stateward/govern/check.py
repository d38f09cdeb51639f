"""What can be said of a chart under its policies before any run: loops without a fuse, tools without an approval."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from stateward.chart.circle import circles
from stateward.chart.definition import Activity, Node
from stateward.chart.finding import Finding, Severity, listed
from stateward.chart.graph import Edge, Way
from stateward.govern.effective import Effective
from stateward.govern.exposure import exposures
from stateward.govern.ground import WORK, Ground
from stateward.govern.idle import idle
from stateward.govern.ruling import Ruling, known_level


def governance(ground: Ground) -> tuple[Finding, ...]:
    """Return what is wrong with a chart under its policies, in document order within each rule.

    Args:
        ground: The chart's graph with its policies.
    """
    return (
        *_unbounded(ground),
        *_unapproved(ground),
        *_forbidden(ground),
        *exposures(ground),
        *_no_timeout(ground),
        *_repeated(ground),
        *idle(ground),
    )


def _unbounded(ground: Ground) -> Iterator[Finding]:
    def goes_on(edge: Edge) -> bool:
        return edge.cause not in ("outside", "raised") and not ground.bounded(edge)

    def is_counted(edge: Edge) -> bool:
        return edge.cause in WORK and edge.ended >= 0 and ground.is_counted(edge.ended)

    for way in circles(ground.graph, allowed=goes_on, rather=is_counted):
        worked = tuple(dict.fromkeys(edge.ended for edge in way if edge.cause in WORK and edge.ended >= 0))
        if worked:
            yield _circle(ground, way, worked=worked)


def _circle(ground: Ground, way: Way, *, worked: tuple[int, ...]) -> Finding:
    graph = ground.graph
    names = listed(graph.paths(worked))
    fused = any(edge.cause == "fuse" for edge in way)
    severity: Severity = "warning" if fused else "note"
    if any(ground.is_counted(state) for state in worked):
        severity = "error"
        message = f"No fuse bounds the calls of {names}, which can follow each other in a circle: set `fuses` there."
    elif fused:
        message = f"A fuse leads into a circle that it does not end: {names} makes no calls, and then it trips again."
    else:
        message = f"Only guards bound the circle through {names}: no fuse counts anything there."
    return Finding(
        rule="unbounded-cycle",
        severity=severity,
        path=graph.paths(worked)[0],
        message=message,
        witness=graph.hops((*graph.way(way[0].source), *way)),
    )


def _unapproved(ground: Ground) -> Iterator[Finding]:
    """Yield where a tool that needs an approval elsewhere is called without."""
    strict: dict[str, tuple[Node, Ruling]] = {}
    for node, _, effective in ground.working():
        for tool in ground.usable(node.index):
            ruling = effective.level(tool)
            if known_level(ruling.level) == "restricted":
                strict.setdefault(tool, (node, ruling))
    for node, _, effective in ground.working():
        for tool in ground.usable(node.index):
            if tool in strict and known_level(effective.level(tool).level) == "allowed":
                yield _loose(ground, node, tool, strict=strict[tool], origin=effective.level(tool).origin)


def _loose(ground: Ground, node: Node, tool: str, *, strict: tuple[Node, Ruling], origin: str) -> Finding:
    where, ruling = strict
    return Finding(
        rule="unapproved",
        severity="error",
        path=node.path,
        message=f"`{tool}` runs here without an approval ({origin}), though it needs one in `{where.path}` "
        f"({ruling.origin}): restrict it around both.",
        witness=ground.way_to(node),
    )


def _forbidden(ground: Ground) -> Iterator[Finding]:
    """Yield the declared tools that can never run."""
    for node, activity, effective in ground.working():
        for tool in activity.tools:
            ruling = effective.level(tool)
            if known_level(ruling.level) == "forbidden":
                yield Finding(
                    rule="forbidden-tool",
                    severity="note",
                    path=node.path,
                    message=f"`{tool}` is declared here, and every call is refused ({ruling.origin}).",
                )


def _no_timeout(ground: Ground) -> Iterator[Finding]:
    for node, activity, effective in ground.working():
        limited = activity.timeout_s is not None or effective.timeouts.activity_timeout_s is not None
        if limited or _calls_end(ground, node, activity, effective):
            continue
        calls = bool(activity.model or ground.usable(node.index))
        if not calls and node.index not in ground.waiting:
            continue
        own = "`timeout_s` in the state, or `activity_timeout_s` in a policy"
        fix = f"set `call_timeout_s` in a policy, {own}" if calls else f"set {own}"
        spent = "its calls" if calls else "what it awaits"
        yield Finding(
            rule="no-timeout",
            severity="warning" if calls else "note",
            path=node.path,
            message=f"Nothing limits how long `{node.path}` may take for {spent}: {fix}.",
            witness=ground.way_to(node),
        )


def _calls_end(ground: Ground, node: Node, activity: Activity, effective: Effective) -> bool:
    """Tell whether an activity makes calls, and each of them has a limit in time."""
    tools = ground.usable(node.index)
    if not activity.model and not tools:
        return False
    if effective.call_timeout_s is not None:
        return True
    facts = [ground.tools.get(tool) for tool in tools]
    return not activity.model and all(fact is not None and fact.timeout_s is not None for fact in facts)


def _repeated(ground: Ground) -> Iterator[Finding]:
    """Yield the tools that must not run twice in states that can be entered twice."""
    for node, _, effective in ground.working():
        tools = [tool for tool in ground.usable(node.index) if _repeats(ground, effective, tool)]
        way = _twice(ground, node.index) if tools else None
        if way is not None:
            yield Finding(
                rule="repeated-effect",
                severity="warning",
                path=node.path,
                message=f"`{node.path}` can be entered again, and each entry calls {listed(tools)} anew, which must "
                "not run twice and cannot be looked up: make the effect idempotent, or set `max_calls: 1`.",
                witness=ground.graph.hops(way),
            )


def _repeats(ground: Ground, effective: Effective, tool: str) -> bool:
    facts = ground.tools.get(tool)
    once = any(limit.value <= 1 for limit in effective.limits_on(tool))
    return facts is not None and facts.repeats and not once


def _twice(ground: Ground, state: int) -> Way | None:
    """Return a way that enters a state twice, if there is one."""
    graph = ground.graph
    first = graph.ways_in[state]
    entries = [edge for edge in graph.in_order if edge.target >= 0 and _enters(edge, state)]
    last: dict[int, Edge | None] = {edge.target: None for edge in [first, *entries]}
    line = deque(last)
    while line:
        number = line.popleft()
        for edge in graph.steps[number]:
            if _enters(edge, state):
                return _way_back(ground, (*_since(last, number), edge))
            if edge.target >= 0 and edge.target not in last:
                last[edge.target] = edge
                line.append(edge.target)
    return None


def _since(last: dict[int, Edge | None], number: int) -> Way:
    way: list[Edge] = []
    while (edge := last[number]) is not None:
        way.append(edge)
        number = edge.source
    return tuple(reversed(way))


def _way_back(ground: Ground, way: Way) -> Way:
    return (*ground.graph.way(way[0].source), *way)


def _enters(edge: Edge, state: int) -> bool:
    return any(state in micro.entered for micro in edge.microsteps)
