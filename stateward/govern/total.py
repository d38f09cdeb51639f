"""The most that one run can come to: calls, turns, money, and the sum of a tool's argument.

A state that declares a tool or a model may call it as often as it likes, so only limits bound a run. A limit counts in
its scope, over all entries of all states inside. So the most a run can reach is the sum over the states it enters, cut
at each scope to what is allowed there; and that is looked for over all ways through the chart, because not every pair
of states lies on one.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stateward.chart.finding import Hop
from stateward.chart.graph import Edge, Way
from stateward.govern.effective import Effective
from stateward.govern.ground import Ground
from stateward.govern.layer import Limit

MOST_PLACES = 200_000
"""How many pairs of standing and states entered are looked at for the exact maximum."""

Chain = tuple[tuple[str, float], ...]
"""The limits on one state, outermost first: scope and value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """The most that one run can come to of something."""

    unit: str
    """`turns`, `tokens`, `calls`, `usd`, `calls:<tool>` or `sum:<tool>.<argument>`."""
    most: float | None
    """None if nothing bounds it."""
    bounded_by: tuple[str, ...] = ()
    """The limits that count, and where they are written."""
    is_reached: bool = True
    """Whether some way goes through all states that add up to `most`; else it is only known that no run exceeds it."""
    witness: tuple[Hop, ...] = ()
    """A shortest way on which it can be reached."""

    def to_json(self) -> dict[str, object]:
        """Return the total as plain JSON."""
        return {
            "unit": self.unit,
            "most": self.most,
            "bounded_by": list(self.bounded_by),
            "is_reached": self.is_reached,
            "witness": [{"took": hop.took, "assumed": list(hop.assumed), "at": list(hop.at)} for hop in self.witness],
        }


def totals(ground: Ground) -> tuple[Total, ...]:
    """Return the most that one run can come to, of everything that is counted.

    Args:
        ground: The chart's graph with its policies.
    """
    models = {node.index: ("",) for node, activity, _ in ground.working() if activity.model}
    callers = {node.index: tools for node, _, _ in ground.working() if (tools := ground.usable(node.index))}
    found = [
        _total(ground, "turns", states=models, units=("turns",)),
        _total(ground, "tokens", states=models, units=("tokens",)),
        _total(ground, "usd", states=models, units=("usd",)),
        _total(ground, "calls", states=callers, units=("calls",)),
    ]
    for tool in sorted({tool for tools in callers.values() for tool in tools}):
        states = {state: (tool,) for state, tools in callers.items() if tool in tools}
        counted = _total(ground, f"calls:{tool}", states=states, units=("calls",))
        found.extend((counted, *_sums(ground, tool, counted=counted)))
    return tuple(found)


def _sums(ground: Ground, tool: str, *, counted: Total) -> Iterator[Total]:
    facts = ground.tools.get(tool)
    for argument, most in sorted(facts.most.items() if facts else ()):
        bounded = counted.most is not None and most is not None
        bound = f"`{argument}` of `{tool}`: at most {most:g}" if most is not None else ""
        yield Total(
            unit=f"sum:{tool}.{argument}",
            most=(counted.most or 0) * (most or 0) if bounded else None,
            bounded_by=(*counted.bounded_by, bound) if bounded else (),
            is_reached=counted.is_reached,
            witness=counted.witness,
        )


@dataclass(frozen=True, slots=True)
class _Supply:
    """What one state can add: one part for each tool, each under its limits."""

    parts: tuple[tuple[str, Chain], ...]
    whole: Chain
    """The limits on all parts together."""


def _total(ground: Ground, unit: str, *, states: Mapping[int, tuple[str, ...]], units: tuple[str, ...]) -> Total:
    """Return the most of one unit.

    Args:
        ground: The chart's graph with its policies.
        unit: The name of what is counted.
        states: Per state that adds to it: the tools whose calls add, or one empty name for a model.
        units: The units whose limits hold for all of it.
    """
    if not states:
        return Total(unit=unit, most=0)
    supplies = {state: _supply(ground.effectives[state], units, tools) for state, tools in states.items()}
    groups = list(dict.fromkeys(supplies.values()))
    best = _best(ground, {state: groups.index(supply) for state, supply in supplies.items()}, groups=groups)
    most = _value(groups) if best is None else best[0]
    places = [place for state, tools in states.items() for place in _places(ground.effectives[state], units, tools)]
    return Total(
        unit=unit,
        most=None if math.isinf(most) else most,
        bounded_by=() if math.isinf(most) else tuple(dict.fromkeys(places)),
        is_reached=best is not None,
        witness=() if best is None else ground.graph.hops(best[1]),
    )


def _supply(effective: Effective, units: tuple[str, ...], tools: tuple[str, ...]) -> _Supply:
    parts = tuple((tool, _chain(effective, units, (tool,))) for tool in tools)
    return _Supply(parts=parts, whole=_chain(effective, units, ()))


def _chain(effective: Effective, units: tuple[str, ...], tools: tuple[str, ...]) -> Chain:
    return tuple((limit.scope, limit.value) for limit in _limits(effective, units, tools))


def _places(effective: Effective, units: tuple[str, ...], tools: tuple[str, ...]) -> Iterator[str]:
    """Yield where the limits on the whole and on each part are written."""
    for part in ((), *((tool,) for tool in tools)):
        yield from (limit.origin for limit in _limits(effective, units, part))


def _value(supplies: Iterable[_Supply]) -> float:
    """Return the most that some states can come to together."""
    given = tuple(supplies)
    names = dict.fromkeys(name for supply in given for name, _ in supply.parts)
    parts = (capped(chain for supply in given for each, chain in supply.parts if each == name) for name in names)
    return min(capped(supply.whole for supply in given), math.fsum(parts))


def _limits(effective: Effective, units: tuple[str, ...], tools: tuple[str, ...]) -> Iterator[Limit]:
    """Yield the limits on some units and tools, outermost first, for each scope the smallest."""
    wanted = (*units, *(f"calls:{tool}" for tool in tools))
    known = [*effective.limits, *(limit for tool in tools for limit in effective.limits_on(tool))]
    least: dict[str, Limit] = {}
    for limit in known:
        if limit.unit in wanted and (limit.scope not in least or limit.value < least[limit.scope].value):
            least[limit.scope] = limit
    yield from sorted(least.values(), key=lambda limit: _depth(limit.scope))


def capped(chains: Iterable[Chain]) -> float:
    """Return the most that states under some limits can come to together.

    Args:
        chains: The limits on each state, outermost first.

    Returns:
        The sum, cut at every scope; infinite if nothing limits one of them.
    """
    items: list[tuple[Chain, float]] = [(chain, math.inf) for chain in set(chains)]
    while deep := max((len(chain) for chain, _ in items), default=0):
        cut: dict[Chain, float] = {}
        for chain, value in items:
            if len(chain) == deep:
                cut[chain] = cut.get(chain, 0.0) + value
        items = [item for item in items if len(item[0]) < deep]
        items += [(chain[:-1], min(chain[-1][1], value)) for chain, value in cut.items()]
    return math.fsum(value for _, value in items)


def _best(ground: Ground, group_of: Mapping[int, int], *, groups: Sequence[_Supply]) -> tuple[float, Way] | None:
    """Return the most that lies on one way, with a shortest such way; None if there are too many ways to look at."""
    graph = ground.graph
    if not graph.exact:
        return None
    last: dict[tuple[int, int], tuple[Edge, tuple[int, int]] | None] = {(-1, 0): None}
    line = deque(last)
    sums: dict[int, float] = {}
    best: tuple[float, tuple[int, int]] = (-1.0, (-1, 0))
    while line:
        here = line.popleft()
        if len(last) > MOST_PLACES:
            return None
        for edge in graph.starts if here[0] < 0 else graph.steps[here[0]]:
            there = (edge.target, here[1] | _entered(edge, group_of))
            if edge.target < 0 or there in last:
                continue
            last[there] = (edge, here)
            line.append(there)
            if there[1] not in sums:
                sums[there[1]] = _value(supply for place, supply in enumerate(groups) if there[1] >> place & 1)
            best = max(best, (sums[there[1]], there), key=lambda one: one[0])
    return best[0], _way(last, best[1])


def _entered(edge: Edge, group_of: Mapping[int, int]) -> int:
    mask = 0
    for micro in edge.microsteps:
        for state in micro.entered:
            if state in group_of:
                mask |= 1 << group_of[state]
    return mask


def _way(last: Mapping[tuple[int, int], tuple[Edge, tuple[int, int]] | None], place: tuple[int, int]) -> Way:
    way: list[Edge] = []
    while (step := last[place]) is not None:
        way.append(step[0])
        place = step[1]
    return tuple(reversed(way))


def _depth(scope: str) -> int:
    return scope.count(".") + bool(scope)
