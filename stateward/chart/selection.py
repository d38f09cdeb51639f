"""Which transitions an event enables, and which of them win."""

from __future__ import annotations

from collections.abc import Sequence

from stateward.chart.data import Data
from stateward.chart.definition import Definition, Transition
from stateward.chart.entry import Memory, domain
from stateward.chart.event import Occurrence, matches
from stateward.chart.guard import Active
from stateward.chart.trace import Verdict
from stateward.errors import StatewardError

MOST_NAMES = 16_384
"""How many pairs of an event's name and a state are kept; names come from outside, so there may be any number."""


class Selector:
    """Selects transitions during one step, and keeps what the guards said.

    Args:
        chart: The chart.
        data: Evaluates the guards.
    """

    def __init__(self, chart: Definition, *, data: Data) -> None:
        self._chart = chart
        self._data = data
        self.verdicts: list[Verdict] = []
        self.failures: list[tuple[Transition, Exception]] = []
        """Guards that raised, each the first time it did in this step."""

    def select(
        self,
        atoms: Sequence[int],
        *,
        trigger: Occurrence | None,
        event: Occurrence | None,
        active: Active,
        fresh: bool = True,
    ) -> list[Transition]:
        """Return the transitions enabled by a trigger, conflicts between them not yet resolved.

        Args:
            atoms: The active states without states inside, in document order.
            trigger: The event to react to; None for eventless transitions.
            event: What guards see as `event`: the trigger, or the last event before.
            active: What guards see as `active`.
            fresh: Whether completion transitions may react.

        Source: SCXML appendix D, selectTransitions and selectEventlessTransitions.
        """
        chart, tested = self._chart, dict[int, bool]()
        chosen: dict[int, Transition] = {}
        for state in atoms:
            candidates = chart.tables.always[state] if trigger is None else reacting(chart, trigger.name, state=state)
            for transition in candidates:
                stale = transition.kind == "completion" and not fresh
                if not stale and self._passes(transition, event=event, active=active, tested=tested):
                    chosen[transition.index] = transition
                    break
        return list(chosen.values())

    def _passes(
        self, transition: Transition, *, event: Occurrence | None, active: Active, tested: dict[int, bool]
    ) -> bool:
        if transition.guard is None:
            return True
        index = transition.index
        if index not in tested:
            tested[index] = self._test(transition, event=event, active=active)
            self.verdicts.append(Verdict(transition=index, passed=tested[index]))
        return tested[index]

    def _test(self, transition: Transition, *, event: Occurrence | None, active: Active) -> bool:
        try:
            return self._data.test(transition, event=event, active=active)
        except StatewardError:
            raise
        except Exception as error:  # noqa: BLE001 - kept, and raised by the macrostep as `error.guard`
            if all(known is not transition for known, _ in self.failures):
                self.failures.append((transition, error))
            return False


def exit_set(chart: Definition, transition: Transition, *, active: tuple[int, ...], memory: Memory) -> tuple[int, ...]:
    """Return the active states a transition leaves, in document order.

    Source: SCXML appendix D, computeExitSet.
    """
    return inside(chart, domain_of(chart, transition, memory=memory), active=active)


def inside(chart: Definition, within: int, *, active: tuple[int, ...]) -> tuple[int, ...]:
    """Return the active states properly inside one, in document order; none if it is -1."""
    if within < 0:
        return ()
    end = chart.nodes[within].end
    return tuple([state for state in active if within < state < end])


def domain_of(chart: Definition, transition: Transition, *, memory: Memory) -> int:
    """Return a transition's domain, from the table unless history decides."""
    known = chart.tables.domains[transition.index]
    return domain(chart.nodes, transition=transition, memory=memory) if known is None else known


def without_conflicts(
    chart: Definition, chosen: Sequence[Transition], *, active: tuple[int, ...], memory: Memory
) -> list[Transition]:
    """Return the transitions to take together: of two that leave a common state, the inner or earlier one.

    Source: SCXML appendix D, removeConflictingTransitions.
    """
    kept: dict[int, tuple[Transition, set[int]]] = {}
    for transition in chosen:
        leaves = set(exit_set(chart, transition, active=active, memory=memory))
        rivals = [other for other, left in kept.values() if leaves & left]
        if all(chart.is_descendant(transition.source, of=rival.source) for rival in rivals):
            for rival in rivals:
                del kept[rival.index]
            kept[transition.index] = (transition, leaves)
    return [transition for transition, _ in kept.values()]


def reacting(chart: Definition, name: str, *, state: int) -> tuple[Transition, ...]:
    """Return the transitions of a state and those around it that react to an event of this name, innermost first.

    Args:
        chart: The chart, which keeps what was found.
        name: The event's name.
        state: A state without states inside.
    """
    known = chart.tables.reacting
    found = known.get((name, state))
    if found is None:
        if len(known) >= MOST_NAMES:
            known.clear()
        found = tuple([t for t in chart.tables.triggered[state] if reacts(t, name=name, fresh=True)])
        known[name, state] = found
    return found


def reacts(transition: Transition, *, name: str, fresh: bool) -> bool:
    """Tell whether a transition reacts to an event of this name; a completion transition only to fresh news."""
    if transition.kind == "completion":
        return fresh and transition.events[0] == name
    return matches(transition.events, name=name)
