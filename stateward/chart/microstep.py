"""One microstep of the kernel at a time, from any moment of a step and to the next, under an oracle.

It is the kernel's own `Macrostep`, stopped after each microstep: selection, exits, history, entries and what they
announce are its doing.
"""

from __future__ import annotations

from stateward.chart.definition import Definition
from stateward.chart.event import Occurrence, matches
from stateward.chart.macrostep import Macrostep
from stateward.chart.oracle import Oracle
from stateward.chart.standing import Memories, Phase, Standing
from stateward.chart.tables import ACTIVITY_DONE
from stateward.chart.trace import Microstep

_UNLIMITED = 1_000_000


class Stepper(Macrostep):
    """Takes one microstep; used once.

    Args:
        chart: The chart.
        standing: Where it stands.
        oracle: Answers the guards.
    """

    def __init__(self, chart: Definition, standing: Standing, *, oracle: Oracle) -> None:
        super().__init__(chart, standing.configuration(), data=oracle, limit=_UNLIMITED)
        self._standing = standing
        self._oracle = oracle
        self._stuck = set(standing.stuck)
        self._stale = False
        if standing.event:
            self._event = Occurrence(name=standing.event)

    @property
    def taken(self) -> tuple[Microstep, ...]:
        """The microstep, if it was one."""
        return tuple(self._microsteps)

    def enter(self) -> Phase:
        """Enter the chart."""
        self._take_all([], trigger=None)
        return "settle"

    def go(self) -> Phase:
        """Do what comes next; return where in the step it leads."""
        if self._standing.phase == "settle":
            settles = self._chart.tables.has_always and not self._final
            return "settle" if settles and self._take(self._select(None), trigger=None) else "queue"
        if self._final or not self._standing.queue:
            return "rest"
        name, stale = self._standing.queue[0]
        self._stale = stale
        self._dispatch(Occurrence(name=name), born=0)
        return "settle"

    def after(self, phase: Phase, *, memories: Memories, ended: int) -> Standing:
        """Return where the chart stands now.

        Args:
            phase: What `go` returned.
            memories: Which histories matter.
            ended: The state whose activity ends with the event; -1 for none.
        """
        before = self._standing
        active = self._active
        running = {s for s in before.running if s not in self._exited and s != ended} | {*self._started}
        memory = memories.kept(self._history, active=active)
        if phase == "rest":
            stuck = () if self._final else tuple(sorted(self._stuck))
            return Standing(active, memory, tuple(sorted(running)), stuck=stuck)
        return Standing(
            active,
            memory,
            tuple(sorted(running)),
            phase,
            self._waiting(dispatched=before.phase == "queue"),
            tuple(sorted(self._stuck)),
            self._event.name if self._event else "",
            self._oracle.known,
            before.raising or self._oracle.acted,
        )

    def _left_since(self, state: int, *, born: int) -> bool:
        return self._stale or super()._left_since(state, born=born)

    def _waiting(self, *, dispatched: bool) -> tuple[tuple[str, bool], ...]:
        """Return what waits in the queue, what has just been announced last."""
        before = self._standing.queue[1:] if dispatched else self._standing.queue
        completions = self._chart.tables.completions
        aged = [(name, stale or completions.get(name, -1) in self._exited) for name, stale in before]
        heard = {name for name in {name for name, stale in aged if stale} if self._is_heard(name)}
        kept = [(name, stale) for name, stale in aged if not stale or name in heard]
        return (*kept, *((occurrence.name, False) for occurrence, _ in self._queue))

    def _is_heard(self, name: str) -> bool:
        """Tell whether stale news still means something to somebody."""
        heard = (t for t in self._chart.transitions if t.kind == "event" and matches(t.events, name=name))
        return not name.startswith(ACTIVITY_DONE) and any(heard)
