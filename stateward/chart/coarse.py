"""The coarse graph: one standing for each innermost state, for charts that have too many configurations.

Whatever can happen in the chart can happen here, and more: regions are taken each for itself, and a history may
remember anything. So what cannot be reached here cannot be reached at all; what can be reached here may not be.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from stateward.chart.alphabet import Alphabet, Fuses
from stateward.chart.definition import Definition, Transition
from stateward.chart.entry import domain, plan
from stateward.chart.event import matches
from stateward.chart.graph import Cause, Edge, Graph
from stateward.chart.standing import Standing
from stateward.chart.trace import Microstep


def coarse(chart: Definition, *, fuses: Fuses | None = None) -> Graph:
    """Return the coarse graph of a chart.

    Args:
        chart: The chart.
        fuses: What can trip where; None to take every fuse for set.
    """
    return _Coarse(chart, fuses=fuses).graph()


class _Coarse:
    def __init__(self, chart: Definition, *, fuses: Fuses | None) -> None:
        self._chart = chart
        self._alphabet = Alphabet(chart, fuses=fuses)
        self._possible = self._alphabet.possible()
        self._numbers: dict[int, int] = {}
        self._nodes: list[Standing] = []
        self._steps: list[list[Edge]] = []
        self._parents: list[Edge] = []
        self._starts: list[Edge] = []
        self._open: deque[int] = deque()
        self._tested: set[int] = set()
        self._noted: set[tuple[int, int, int]] = set()

    def graph(self) -> Graph:
        entered = tuple(state for state, _ in self._chart.tables.start)
        self._lead(-1, Microstep(event=None, transitions=(), exited=(), entered=entered), event="start", cause="start")
        while self._open:
            self._expand(self._open.popleft())
        return Graph(
            chart=self._chart,
            nodes=self._nodes,
            starts=self._starts,
            steps=self._steps,
            parents=self._parents,
            tested=frozenset(self._tested),
            exact=False,
        )

    def _expand(self, number: int) -> None:
        active = self._nodes[number].active
        atom = active[-1]
        tables = self._chart.tables
        if atom in tables.finals:
            return
        for transition in (*tables.triggered[atom], *tables.always[atom]):
            if not self._can_fire(transition):
                continue
            if transition.guard:
                self._tested.add(transition.index)
            for entered in self._entered(transition):
                exited = tuple(state for state in reversed(active) if self._leaves(transition, state))
                micro = Microstep(
                    event=self._event(transition),
                    transitions=(transition.index,),
                    exited=exited,
                    entered=entered,
                )
                self._lead(number, micro, event=micro.event or "always", cause=self._cause(transition), ended=atom)

    def _lead(self, source: int, micro: Microstep, *, event: str, cause: Cause, ended: int = -1) -> None:
        chart = self._chart
        worked = ended if cause in ("activity", "failure", "fuse") and chart.nodes[ended].activity else -1
        atoms = [state for state in micro.entered if chart.is_atomic(state)]
        for atom in atoms or ([] if source < 0 else [self._nodes[source].active[-1]]):
            number = self._numbers.get(atom, len(self._nodes))
            edge = Edge(source, number, event, cause, (micro,), ended=worked)
            if number == len(self._nodes):
                self._numbers[atom] = number
                self._nodes.append(self._standing(atom))
                self._steps.append([])
                self._parents.append(edge)
                self._open.append(number)
                self._wake(atom)
            key = (source, number, micro.transitions[0] if micro.transitions else -1)
            if key not in self._noted:
                self._noted.add(key)
                (self._starts if source < 0 else self._steps[source]).append(edge)

    def _standing(self, atom: int) -> Standing:
        running = (atom,) if self._chart.nodes[atom].activity else ()
        return Standing(active=self._chart.tables.chains[atom], running=running)

    def _wake(self, atom: int) -> None:
        """Look again at the states inside those that a final state may have completed."""
        if self._chart.nodes[atom].kind == "final":
            around = self._chart.tables.ancestors[atom]
            self._open.extend(
                n
                for a, n in self._numbers.items()
                if a != atom and not set(around).isdisjoint(self._chart.tables.ancestors[a])
            )

    def _can_fire(self, transition: Transition) -> bool:
        if transition.kind == "completion":
            return self._can_complete(transition.source)
        if transition.kind == "always" or transition.delay is not None:
            return True
        return any(event.startswith("done") or event == "*" or self._is_possible(event) for event in transition.events)

    def _is_possible(self, event: str) -> bool:
        return any(matches((event,), name=name) for name in self._possible)

    def _can_complete(self, state: int) -> bool:
        node = self._chart.nodes[state]
        children = [self._chart.nodes[child] for child in node.children if self._chart.nodes[child].kind != "history"]
        if node.kind == "atomic":
            return True
        if node.kind == "parallel":
            return all(child.kind != "atomic" and self._can_complete(child.index) for child in children)
        return any(child.kind == "final" and child.index in self._numbers for child in children)

    def _leaves(self, transition: Transition, state: int) -> bool:
        within = domain(self._chart.nodes, transition=transition, memory={})
        return within >= 0 and self._chart.is_descendant(state, of=within)

    def _entered(self, transition: Transition) -> Iterator[tuple[int, ...]]:
        """Yield what a transition may enter: what history remembers may be any state inside."""
        nodes = self._chart.nodes
        histories = [target for target in transition.targets if nodes[target].kind == "history"]
        for memory in ({}, *self._memories(histories)):
            within = domain(nodes, transition=transition, memory=memory)
            yield tuple(s for s, _ in plan(nodes, targets=transition.targets, within=within, memory=memory))

    def _memories(self, histories: list[int]) -> Iterator[dict[int, tuple[int, ...]]]:
        for history in histories:
            node = self._chart.nodes[history]
            around = self._chart.nodes[node.parent]
            for state in range(around.index + 1, around.end):
                inner = self._chart.nodes[state]
                if (
                    self._chart.is_atomic(state)
                    if node.deep
                    else inner.parent == around.index and inner.kind != "history"
                ):
                    yield {history: (state,)}

    def _event(self, transition: Transition) -> str | None:
        return None if transition.kind == "always" else transition.events[0]

    def _cause(self, transition: Transition) -> Cause:
        if transition.kind != "event":
            return "activity" if transition.kind == "completion" else "settling"
        if transition.delay is not None:
            return "time"
        first = transition.events[0].partition(".")[0]
        if first in ("error", "timeout", "unknown_after_crash"):
            return "failure"
        return "fuse" if first == "fuse" else "settling" if first == "done" else "outside"
