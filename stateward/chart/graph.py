"""The graph of a chart: every standing it can come to, and every step between them; the proofs read nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from stateward.chart.definition import Definition
from stateward.chart.finding import Hop
from stateward.chart.standing import Standing, is_complete
from stateward.chart.trace import Microstep

Cause = Literal["start", "outside", "activity", "failure", "fuse", "time", "raised", "settling"]
"""Why a step is taken.

start: a run begins.
outside: an event that anyone may raise: a person, another system, an activity, an action.
activity: an activity has ended well.
failure: an activity has ended badly.
fuse: a fuse has tripped in an activity.
time: a timer is due.
raised: the kernel reports a failing guard, action or delay.
settling: the rest of a step, behind a moment at which something else could have come first.
"""

NOWHERE = -1
"""The target of a step in which the run fails."""

Way = tuple["Edge", ...]
"""Steps that follow each other."""


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """One step."""

    source: int
    """The standing it begins in; -1 for the beginning of a run."""
    target: int
    event: str
    cause: Cause
    microsteps: tuple[Microstep, ...]
    answers: tuple[tuple[int, bool], ...] = ()
    """What guards were assumed to say."""
    stuck: tuple[int, ...] = ()
    """States at which the run fails, for no guard of their `to` is true."""
    endless: bool = False
    """Whether the step does not come to rest."""
    ended: int = -1
    """The state whose activity ends with the event, well or badly; -1 for none."""

    @property
    def moves(self) -> bool:
        """Whether any state is left or entered."""
        return any(micro.exited or micro.entered for micro in self.microsteps)


@dataclass(frozen=True, eq=False)
class Graph:
    """What a chart can do."""

    chart: Definition
    nodes: Sequence[Standing]
    starts: Sequence[Edge]
    steps: Sequence[Sequence[Edge]]
    """Per standing: the steps that begin in it."""
    parents: Sequence[Edge]
    """Per standing: the last step of a shortest way to it."""
    tested: frozenset[int]
    """The transitions whose guard was ever asked."""
    exact: bool
    """Whether standings are configurations; else each stands for one innermost state, whatever else is active."""

    def edges(self) -> Iterator[Edge]:
        """Yield every step, those of the beginning first."""
        yield from self.starts
        for steps in self.steps:
            yield from steps

    def way(self, node: int) -> Way:
        """Return a shortest way from the beginning to a standing.

        Args:
            node: Its number; -1 for the beginning itself.
        """
        way: list[Edge] = []
        while node >= 0:
            edge = self.parents[node]
            way.append(edge)
            node = edge.source
        return tuple(reversed(way))

    def to(self, edge: Edge) -> Way:
        """Return a shortest way from the beginning through a step.

        Args:
            edge: The step it ends with.
        """
        return (*self.way(edge.source), edge)

    def hops(self, way: Way) -> tuple[Hop, ...]:
        """Return a way as a witness; the parts of one step are one hop.

        Args:
            way: The steps.
        """
        hops: list[Hop] = []
        for edge in way:
            hop = self._hop(edge)
            if not edge.event and hops:
                hop = Hop(took=hops[-1].took, assumed=(*hops[-1].assumed, *hop.assumed), at=hop.at)
                hops.pop()
            hops.append(hop)
        return tuple(hops)

    def paths(self, states: Sequence[int]) -> tuple[str, ...]:
        """Return the paths of states.

        Args:
            states: Their indexes.
        """
        return tuple(self.chart.nodes[state].path for state in states)

    def atoms(self, node: int) -> tuple[int, ...]:
        """Return the active innermost states of a standing.

        Args:
            node: Its number.
        """
        atoms = self.chart.tables.atoms
        return tuple([state for state in self.nodes[node].active if state in atoms])

    def _hop(self, edge: Edge) -> Hop:
        at = self.paths(self.atoms(edge.target)) if edge.target >= 0 else ()
        return Hop(took=edge.event, assumed=tuple(dict.fromkeys(self._assumed(edge))), at=at)

    def _assumed(self, edge: Edge) -> Iterator[str]:
        taken = {index for micro in edge.microsteps for index in micro.transitions}
        for index, passed in edge.answers:
            transition = self.chart.transitions[index]
            if passed and index in taken:
                yield transition.guard_name
            elif not passed and transition.kind != "always":
                yield f"not {transition.guard_name}"

    @cached_property
    def in_order(self) -> tuple[Edge, ...]:
        """Every step, those nearer to the beginning first."""
        return tuple(self.edges())

    @cached_property
    def ways_in(self) -> Mapping[int, Edge]:
        """Per state that is ever entered: the last step of a shortest way to its entry."""
        found: dict[int, tuple[int, Edge]] = {}
        for edge in self.in_order:
            far = self.far(edge)
            for state in {state for micro in edge.microsteps for state in micro.entered}:
                if state not in found or far < found[state][0]:
                    found[state] = (far, edge)
        return {state: edge for state, (_, edge) in found.items()}

    def far(self, edge: Edge) -> int:
        """Return how many steps a shortest way through a step has.

        Args:
            edge: The step.
        """
        return (self.distances[edge.source] if edge.source >= 0 else 0) + bool(edge.event)

    @cached_property
    def distances(self) -> Sequence[int]:
        """Per standing: how many steps it is from the beginning."""
        known: dict[int, int] = {-1: 0}
        for number in range(len(self.nodes)):
            way: list[int] = []
            while number not in known:
                way.append(number)
                number = self.parents[number].source
            far = known[number]
            for inner in reversed(way):
                far += bool(self.parents[inner].event)
                known[inner] = far
        return [known[number] for number in range(len(self.nodes))]

    @cached_property
    def left(self) -> frozenset[int]:
        """The states that are ever left; to be entered again by a transition from further out does not count."""
        return frozenset(state for edge in self.in_order for micro in edge.microsteps for state in self._left_in(micro))

    def _left_in(self, micro: Microstep) -> Iterator[int]:
        sources = {self.chart.transitions[index].source for index in micro.transitions}
        return (state for state in micro.exited if state not in micro.entered or state in sources)

    @cached_property
    def fired(self) -> frozenset[int]:
        """The transitions that are ever taken."""
        return frozenset(index for edge in self.in_order for micro in edge.microsteps for index in micro.transitions)

    @cached_property
    def completed(self) -> frozenset[int]:
        """The compound and parallel states that are ever complete."""
        if not self.exact:
            reached = frozenset(self.ways_in)
            return frozenset(
                node.index for node in self.chart.nodes if is_complete(self.chart, node.index, active=reached)
            )
        return frozenset(state for edge in self.in_order for state in self._completed_in(edge))

    def _completed_in(self, edge: Edge) -> Iterator[int]:
        active = set(self.nodes[edge.source].active) if edge.source >= 0 else set[int]()
        nodes = self.chart.nodes
        for micro in edge.microsteps:
            active.difference_update(micro.exited)
            active.update(micro.entered)
            for state in micro.entered:
                if nodes[state].kind == "final":
                    around = self.chart.tables.ancestors[state]
                    yield from (s for s in around if is_complete(self.chart, s, active=active))
