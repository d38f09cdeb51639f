"""A standing: all of a chart's present that decides what it can do next, and nothing else.

It is a configuration without counters, with the activities that still run; in the middle of a step also with what waits
in the queue and what guards have said. What a history remembers is forgotten as soon as it cannot matter any more, so
that two ways to the same place are the same standing.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Literal

from stateward.chart.configuration import Configuration
from stateward.chart.definition import Definition
from stateward.chart.entry import Memory

Phase = Literal["rest", "settle", "queue"]
"""Where in a step it is.

rest: between two steps.
settle: eventless transitions are to be tested.
queue: none is enabled; the next event of the queue is to be processed, unless something raised comes before it.
"""

Kept = tuple[tuple[int, tuple[int, ...]], ...]
"""What histories remember, sorted."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a chart stands, as far as it matters."""

    active: tuple[int, ...] = ()
    memory: Kept = ()
    running: tuple[int, ...] = ()
    """States whose activity has not ended, sorted."""
    phase: Phase = "rest"
    queue: tuple[tuple[str, bool], ...] = ()
    """What is to be processed, with whether it was announced before its state was left."""
    stuck: tuple[int, ...] = ()
    """States whose completion led nowhere; the run fails if they are not left by the end of the step."""
    event: str = ""
    """The last event, for guards that look at it."""
    known: tuple[tuple[object, bool], ...] = ()
    """What guards said since an action last ran."""
    raising: bool = False
    """Whether something in this step may have raised events."""

    @property
    def rests(self) -> bool:
        """Whether it is the end of a step."""
        return self.phase == "rest"

    def configuration(self) -> Configuration:
        """Return what the kernel takes."""
        return Configuration(active=self.active, history=dict(self.memory))


class Memories:
    """Which of a chart's histories matter where.

    Args:
        chart: The chart.
    """

    def __init__(self, chart: Definition) -> None:
        self._chart = chart
        self._used = _used(chart)
        self._inside = {history for history in self._used if _is_used_inside(chart, history)}

    def kept(self, memory: Memory, *, active: Iterable[int]) -> Kept:
        """Return the part of a memory that can still matter.

        While a superstate is active, its history will be written anew before it is read, unless something inside leads
        to it.

        Args:
            memory: What histories remember.
            active: The active states.
        """
        if not memory:
            return ()
        nodes, present = self._chart.nodes, frozenset(active)
        kept = [
            (history, states)
            for history, states in memory.items()
            if history in self._used and (history in self._inside or nodes[history].parent not in present)
        ]
        return tuple(sorted(kept))


def _used(chart: Definition) -> frozenset[int]:
    named = {target for transition in chart.transitions for target in transition.targets}
    named |= {target for node in chart.nodes for target in (*node.initial, *node.default)}
    return frozenset(target for target in named if chart.nodes[target].kind == "history")


def _is_used_inside(chart: Definition, history: int) -> bool:
    parent = chart.nodes[chart.nodes[history].parent]
    if any(history in (*node.initial, *node.default) for node in chart.nodes):
        return True
    return any(history in t.targets and parent.index <= t.source < parent.end for t in chart.transitions)


def is_complete(chart: Definition, state: int, *, active: Set[int]) -> bool:
    """Tell whether a compound or parallel state is complete.

    Args:
        chart: The chart.
        state: The state.
        active: The active states.

    Source: SCXML appendix D, isInFinalState.
    """
    node = chart.nodes[state]
    children = [chart.nodes[child] for child in node.children if chart.nodes[child].kind != "history"]
    if node.kind == "compound":
        return any(child.kind == "final" and child.index in active for child in children)
    return node.kind == "parallel" and all(is_complete(chart, child.index, active=active) for child in children)
