"""What the proofs about calls stand on: the chart's graph, the policies in it, and what tools say of themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from stateward.chart.alphabet import TIMEOUT, Fuses
from stateward.chart.definition import Activity, Definition, Node
from stateward.chart.finding import Hop
from stateward.chart.graph import Edge, Graph
from stateward.govern.effective import Effective
from stateward.govern.kinds.shape import Sensitivity
from stateward.govern.ruling import known_level

WORK = ("activity", "failure")
"""Causes of a step with which an activity ends, so that its calls were made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFacts:
    """What the proofs know of a tool."""

    effect: Literal["pure", "idempotent", "once"]
    has_lookup: bool = False
    """For `once`: whether it can be asked if a call was completed."""
    timeout_s: float | None = None
    cleared: Sensitivity = "public"
    """The most sensitive data that it may be given."""
    most: Mapping[str, float | None] = field(default_factory=dict[str, "float | None"])
    """Per argument that is a number: the most its schema allows; None if nothing limits it."""
    arguments: frozenset[str] | None = None
    """The names of its arguments; None if nobody knows them."""

    @property
    def repeats(self) -> bool:
        """Whether a second call may do again what must not be done twice."""
        return self.effect == "once" and not self.has_lookup


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A chart's graph with its policies."""

    graph: Graph
    effectives: Mapping[int, Effective]
    """Per state: what holds there."""
    tools: Mapping[str, ToolFacts] = field(default_factory=dict[str, ToolFacts])
    """What is known of tools; nothing is said of the effects of others."""
    models: Mapping[str, Sensitivity] = field(default_factory=dict[str, Sensitivity])
    """By role: the most sensitive data that its model may see; nothing is said of others."""
    waiting: frozenset[int] = frozenset()
    """States whose activity can wait for something else than a call: it is async, or a runnable."""

    @property
    def chart(self) -> Definition:
        """The chart."""
        return self.graph.chart

    def working(self) -> Iterator[tuple[Node, Activity, Effective]]:
        """Yield the states with an activity that can be reached, with what they do and what holds there."""
        for node in self.chart.nodes:
            if node.activity is not None and node.index in self.graph.ways_in:
                yield node, node.activity, self.effectives[node.index]

    def usable(self, state: int) -> tuple[str, ...]:
        """Return the tools that a state declares and that its policies do not forbid.

        Args:
            state: The state.
        """
        return usable(self.chart.nodes[state], self.effectives[state])

    def way_to(self, node: Node) -> tuple[Hop, ...]:
        """Return a shortest way into a state that can be reached.

        Args:
            node: The state.
        """
        return self.graph.hops(self.graph.to(self.graph.ways_in[node.index]))

    def is_counted(self, state: int) -> bool:
        """Tell whether a state's activity can make calls.

        Args:
            state: The state.
        """
        activity = self.chart.nodes[state].activity
        return activity is not None and bool(activity.model or self.usable(state))

    def bounded(self, edge: Edge) -> bool:
        """Tell whether a step cannot be taken again and again, because a fuse counts the calls of its activity.

        A state that declares a model or tools is taken to use them.

        Args:
            edge: The step.
        """
        return edge.cause in WORK and edge.ended >= 0 and self._is_fused(edge.ended)

    def _is_fused(self, state: int) -> bool:
        activity = self.chart.nodes[state].activity
        units = {limit.unit for limit in self.effectives[state].limits}
        by_model = activity is not None and bool(activity.model) and not units.isdisjoint(("turns", "tokens", "usd"))
        return by_model or (bool(self.usable(state)) and "calls" in units)


def usable(node: Node, effective: Effective) -> tuple[str, ...]:
    """Return the tools that a state declares and that its policies do not forbid.

    Args:
        node: The state.
        effective: What holds there.
    """
    declared = node.activity.tools if node.activity else ()
    return tuple(tool for tool in declared if known_level(effective.level(tool).level) != "forbidden")


def fuses(chart: Definition, effectives: Mapping[int, Effective], *, tools: Mapping[str, ToolFacts]) -> Fuses:
    """Return what can trip or surface in each activity under its policies.

    Args:
        chart: The chart.
        effectives: Per state: what holds there.
        tools: What is known of tools.
    """
    working = [node for node in chart.nodes if node.activity]
    return {node.index: frozenset(_fuses(node, effectives[node.index], tools)) for node in working}


def _fuses(node: Node, effective: Effective, tools: Mapping[str, ToolFacts]) -> Iterator[str]:
    units = {limit.unit for limit in effective.limits}
    model = node.activity.model if node.activity else None
    callable_tools = usable(node, effective)
    if model:
        yield "fuse.policy"
    if effective.timeouts.activity_timeout_s is not None:
        yield TIMEOUT
    if "runtime_s" in units:
        yield "fuse.runtime_s"
    for counted in ("turns", "tokens"):
        if model and counted in units:
            yield f"fuse.{counted}"
    if (model or callable_tools) and "usd" in units:
        yield "fuse.usd"
    if callable_tools and "calls" in units:
        yield "fuse.calls"
    if any(tool not in tools or tools[tool].effect == "once" for tool in callable_tools):
        yield "unknown_after_crash"
