"""What charts have done while they were watched: states entered, transitions taken, guards seen both ways.

Nothing is watched unless somebody asks: `watching` puts a watched macrostep and shortcut into the kernel's module for
as long as it is open, where `start` and `advance` find them, whoever has imported these two, and a watched move into
the straight way of compiled graphs, which makes no steps. So nobody knows of coverage, or pays for it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from stateward.chart import step as kernel
from stateward.chart.arrow import full_arrows
from stateward.chart.configuration import Configuration
from stateward.chart.data import Data
from stateward.chart.definition import Definition, Transition
from stateward.chart.event import Occurrence
from stateward.chart.oracle import Oracle
from stateward.chart.shortcut import Move
from stateward.chart.trace import Microstep, Step, Verdict
from stateward.govern.fingerprint import digest
from stateward.run import straight

Json = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartCoverage:
    """What is known of one chart."""

    name: str
    hash: str
    """Over the chart's structure; charts made again and again with the same one are counted together."""
    states: tuple[str, ...]
    """Every state that can be active, the root apart, by path."""
    entered: frozenset[str]
    transitions: tuple[str, ...]
    """Every transition: `SOURCE -> TARGET on EVENT [GUARD]`, with a number behind it where two read alike."""
    taken: frozenset[str]
    guarded: tuple[str, ...]
    """Those of them that have a guard."""
    passed: frozenset[str]
    """Those whose guard was seen true."""
    refused: frozenset[str]
    """Those whose guard was seen false, or raised."""

    @property
    def guards(self) -> frozenset[str]:
        """The transitions whose guard was seen both true and false."""
        return self.passed & self.refused

    @property
    def covered(self) -> int:
        """How many states were entered, transitions taken and guards seen both ways."""
        return len(self.entered) + len(self.taken) + len(self.guards)

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.states) + len(self.transitions) + len(self.guarded)

    @property
    def missing(self) -> tuple[str, ...]:
        """What was never seen, one line each: states, then transitions, then guards."""
        guards = ((one, one in self.passed, one in self.refused) for one in self.guarded)
        return (
            *(f"state {path} was never entered" for path in self.states if path not in self.entered),
            *(f"transition {one} was never taken" for one in self.transitions if one not in self.taken),
            *(f"guard of {one} was never {_unseen(passed)}" for one, passed, refused in guards if passed != refused),
            *(f"guard of {one} was never tested" for one in self.guarded if one not in self.passed | self.refused),
        )

    def to_json(self) -> Json:
        """Return it as plain JSON."""
        return {
            "name": self.name,
            "hash": self.hash,
            "percent": percent([self]),
            "states": {path: path in self.entered for path in self.states},
            "transitions": {one: one in self.taken for one in self.transitions},
            "guards": {one: {"true": one in self.passed, "false": one in self.refused} for one in self.guarded},
        }


def percent(charts: Iterable[ChartCoverage]) -> float:
    """Return how much of several charts was seen, all counted together: 0 to 100, rounded down to one decimal.

    Args:
        charts: What is known of them; of none at all, nothing was seen.
    """
    known = tuple(charts)
    total = sum(chart.total for chart in known)
    return sum(chart.covered for chart in known) * 1000 // total / 10 if total else 0.0


class Coverage:
    """What several charts have done; safe to note in from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[int, _Seen] = {}

    def note(self, chart: Definition, step: Step) -> None:
        """Take in one step.

        Args:
            chart: The chart that took it.
            step: What it did.
        """
        with self._lock:
            self._of(chart).note(step.microsteps, step.verdicts)

    def note_move(self, chart: Definition, configuration: Configuration, found: Move) -> None:
        """Take in one move that was made without a step.

        Args:
            chart: The chart that made it.
            configuration: Where it stood; its active states were entered, be it without a step, at a known start.
            found: What it did.
        """
        transition, way, verdicts = found
        made = Microstep(event=None, transitions=(transition.index,), exited=(), entered=way.entered)
        stood = Microstep(event=None, transitions=(), exited=(), entered=configuration.active)
        with self._lock:
            self._of(chart).note((stood, made), verdicts)

    def _of(self, chart: Definition) -> _Seen:
        seen = self._known.get(id(chart))
        if seen is None:
            seen = self._known[id(chart)] = _Seen(chart)
        return seen

    def charts(self) -> tuple[ChartCoverage, ...]:
        """Return what is known, chart by chart, by name; charts of the same name and structure as one."""
        with self._lock:
            merged: dict[tuple[str, str], _Seen] = {}
            for seen in self._known.values():
                key = (seen.chart.name, digest(seen.chart.to_json()))
                merged.setdefault(key, _Seen(seen.chart)).add(seen)
        return tuple(seen.result(name, hash) for (name, hash), seen in sorted(merged.items(), key=lambda item: item[0]))


@dataclass
class _Seen:
    """What one definition has done; it is kept alive, so that no other can get its identity."""

    chart: Definition
    entered: set[int] = field(default_factory=set[int])
    taken: set[int] = field(default_factory=set[int])
    verdicts: set[tuple[int, bool]] = field(default_factory=set[tuple[int, bool]])

    def note(self, microsteps: Iterable[Microstep], verdicts: Iterable[Verdict]) -> None:
        for micro in microsteps:
            self.entered.update(micro.entered)
            self.taken.update(micro.transitions)
        self.verdicts.update((verdict.transition, verdict.passed) for verdict in verdicts)

    def add(self, other: _Seen) -> None:
        self.entered |= other.entered
        self.taken |= other.taken
        self.verdicts |= other.verdicts

    def result(self, name: str, hash: str) -> ChartCoverage:
        nodes, transitions = self.chart.nodes, self.chart.transitions
        arrows = full_arrows(transitions, nodes=nodes, name=self.chart.name)
        return ChartCoverage(
            name=name,
            hash=hash,
            states=tuple(node.path for node in nodes[1:] if node.kind != "history"),
            entered=frozenset(nodes[state].path for state in self.entered if state),
            transitions=arrows,
            taken=frozenset(arrows[index] for index in self.taken),
            guarded=tuple(arrows[t.index] for t in transitions if t.guard is not None),
            passed=frozenset(arrows[index] for index, passed in self.verdicts if passed),
            refused=frozenset(arrows[index] for index, passed in self.verdicts if not passed),
        )


def _unseen(passed: bool) -> str:
    return "false" if passed else "true"


@contextmanager
def watching(coverage: Coverage) -> Generator[None]:
    """Note every step of every chart while this is open, in whatever thread or task it is taken.

    Args:
        coverage: Where it is noted.
    """
    macrostep, shortcut, move = kernel.Macrostep, kernel.shortcut, straight.move

    class Watched(macrostep):
        def __init__(self, chart: Definition, configuration: Configuration, *, data: Data, limit: int) -> None:
            super().__init__(chart, configuration, data=data, limit=limit)
            self._noted = None if isinstance(data, Oracle) else chart  # a proof looks at steps; it takes none

        def process(self, events: Sequence[Occurrence]) -> Step:
            step = super().process(events)
            if self._noted is not None:
                coverage.note(self._noted, step)
            return step

    def watched(
        chart: Definition, configuration: Configuration, events: Sequence[Occurrence], *, data: Data
    ) -> Step | None:
        step = shortcut(chart, configuration, events, data=data)
        if step is not None and not isinstance(data, Oracle):
            coverage.note(chart, step)
        return step

    def moving(
        chart: Definition,
        configuration: Configuration,
        event: Occurrence,
        *,
        candidates: tuple[Transition, ...],
        data: Data,
    ) -> Move | None:
        found = move(chart, configuration, event, candidates=candidates, data=data)
        if found is not None:
            # What is found and not used after all goes the long way, and is noted there once more.
            coverage.note_move(chart, configuration, found)
        return found

    kernel.Macrostep, kernel.shortcut, straight.move = Watched, watched, moving
    try:
        yield
    finally:
        kernel.Macrostep, kernel.shortcut, straight.move = macrostep, shortcut, move
