"""Exploration: the kernel itself is run from every standing a chart can come to, nearest first, so ways are shortest.

What may come at a standing is said by `Alphabet`; guards answer through `Oracle`. A standing may be in the middle of a
step: where a guard has to be asked, and where something raised in this step could come before the completions that wait
in the queue. So whatever an action or activity raises, and in whatever order, is in the graph.

Time is not modelled: a timer may be due whenever its state is active. That only adds ways.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from stateward.chart.alphabet import FUSES, Alphabet, Fuses
from stateward.chart.argument import unfit
from stateward.chart.coarse import coarse
from stateward.chart.definition import Definition
from stateward.chart.graph import NOWHERE, Cause, Edge, Graph
from stateward.chart.microstep import Stepper
from stateward.chart.oracle import MOST_SCRIPTS, Oracle, Script, TooManyAnswers
from stateward.chart.standing import Memories, Standing
from stateward.chart.tables import ACTIVITY_DONE
from stateward.chart.trace import Microstep

DEFAULT_BOUND = 20_000
"""How many standings are explored before the coarser graph is taken."""
ENDLESS_AFTER = 1000
"""How many microsteps nothing has to be decided in until a step counts as endless: as many as the kernel takes."""
TOLD = 16
"""How many microsteps are told of a step that only grows."""


@dataclass(frozen=True, slots=True)
class Happening:
    """What can come at a standing."""

    event: str
    cause: Cause
    ended: int = -1
    """The state whose activity ends with it; -1 for none."""


CONTINUE = Happening("", "settling")
"""Nothing new: the step goes on."""


@dataclass(frozen=True, slots=True)
class _Leg:
    """A part of a step, as far as nothing had to be decided."""

    to: Standing
    microsteps: tuple[Microstep, ...] = ()
    answers: tuple[tuple[int, bool], ...] = ()
    endless: bool = False


def explore(chart: Definition, *, fuses: Fuses | None = None, bound: int = DEFAULT_BOUND) -> Graph:
    """Return the graph of a chart.

    Args:
        chart: The chart.
        fuses: What can trip where; None to take every fuse for set.
        bound: How many standings to explore, at least 1.

    Returns:
        The exact graph; the coarse one if there are more standings than `bound`, or one event is guarded by too many
        guards at the same time.

    Raises:
        DefinitionError: `bound` is no number from 1.
    """
    if not isinstance(cast("object", bound), int) or isinstance(bound, bool) or bound < 1:
        raise unfit(bound, name="bound", expected="a number of configurations, at least 1", where=chart.name)
    try:
        graph = _Explorer(chart, fuses=fuses, bound=bound).graph()
    except TooManyAnswers:
        graph = None
    return coarse(chart, fuses=fuses) if graph is None else graph


class _Explorer:
    def __init__(self, chart: Definition, *, fuses: Fuses | None, bound: int) -> None:
        self._chart = chart
        self._alphabet = Alphabet(chart, fuses=fuses)
        self._memories = Memories(chart)
        self._looks = any(t.guard and t.guard.takes("event") for t in chart.transitions)
        self._bound = bound
        self._longest = 2 * len(chart.nodes) + 32
        self._numbers: dict[Standing, int] = {}
        self._nodes: list[Standing] = []
        self._far: list[int] = []
        self._steps: list[list[Edge]] = []
        self._starts: list[Edge] = []
        self._parents: list[Edge] = []
        self._open: deque[int] = deque()
        self._done: set[int] = set()
        self._tested: set[int] = set()

    def graph(self) -> Graph | None:
        stepper = Stepper(self._chart, Standing(), oracle=(oracle := Oracle(())))
        entered = stepper.after(stepper.enter(), memories=self._memories, ended=-1)
        first = _Leg(self._plain(entered), stepper.taken)
        self._note(NOWHERE, Happening("start", "start"), self._onwards(first))
        assert not oracle.given  # nothing is guarded on the way in
        while self._open:
            if len(self._nodes) > self._bound:
                return None
            number = self._open.popleft()
            if len(self._nodes[number].queue) > self._longest:
                return None  # what actions raise again and again lets it grow for ever
            if number not in self._done:
                self._done.add(number)
                self._expand(number)
        return Graph(
            chart=self._chart,
            nodes=self._nodes,
            starts=self._starts,
            steps=self._steps,
            parents=self._parents,
            tested=frozenset(self._tested),
            exact=True,
        )

    def _expand(self, number: int) -> None:
        standing = self._nodes[number]
        if standing.rests and not self._chart.tables.finals.isdisjoint(standing.active):
            return
        if not standing.rests:
            self._lead(number, standing, CONTINUE)
        if standing.phase != "settle":
            for happening in self._happenings(standing):
                self._lead(number, standing, happening)

    def _lead(self, number: int, standing: Standing, happening: Happening) -> None:
        """Note all that a happening at a standing can come to."""
        begun = standing
        if happening is not CONTINUE:
            raising = standing.raising or bool(standing.running) or happening.cause == "activity"
            queue = ((happening.event, False), *standing.queue)
            begun = replace(standing, phase="queue", queue=queue, raising=raising)
        seen: set[tuple[int, tuple[int, ...]]] = set()
        for leg in self._branches(begun, ended=happening.ended):
            whole = self._onwards(leg)
            key = (self._numbers.get(whole.to, NOWHERE), tuple(t for m in whole.microsteps for t in m.transitions))
            if key[0] < 0 or key not in seen:
                seen.add(key)
                self._note(number, happening, whole)

    def _branches(self, standing: Standing, *, ended: int = -1) -> Iterator[_Leg]:
        """Yield what the next microstep can be, under all answers of its guards."""
        scripts: list[Script] = [()]
        tried = 0
        while scripts:
            script = scripts.pop()
            tried += 1
            if tried > MOST_SCRIPTS:
                raise TooManyAnswers(f"One event depends on more than {MOST_SCRIPTS} combinations of guards")
            oracle = Oracle(script, known=standing.known)
            stepper = Stepper(self._chart, standing, oracle=oracle)
            phase = stepper.go()
            after = stepper.after(phase, memories=self._memories, ended=ended)
            scripts.extend(oracle.others(len(script)))
            yield _Leg(self._plain(after), stepper.taken, tuple(oracle.answers))

    def _onwards(self, leg: _Leg) -> _Leg:
        """Go on as long as nothing has to be decided.

        Completions that bring about more of them never come back to where they were: their queue only grows.
        """
        seen: set[Standing] = set()
        while not leg.to.rests and not self._is_open(leg.to):
            if leg.to in seen:
                return replace(leg, endless=True)
            if len(leg.microsteps) > ENDLESS_AFTER:
                return replace(leg, microsteps=leg.microsteps[:TOLD], endless=True)
            seen.add(leg.to)
            ahead = list(self._branches(leg.to))
            if len(ahead) > 1:
                return leg
            leg = _Leg(ahead[0].to, leg.microsteps + ahead[0].microsteps, leg.answers)
        return leg

    def _is_open(self, standing: Standing) -> bool:
        """Tell whether something raised in this step could come before what waits in the queue."""
        if standing.phase != "queue" or not standing.raising or not (standing.queue or standing.stuck):
            return False
        if not self._chart.tables.finals.isdisjoint(standing.active):
            return False
        return next(self._happenings(standing), None) is not None

    def _happenings(self, standing: Standing) -> Iterator[Happening]:
        """Yield what can come at a standing."""
        tables = self._chart.tables
        atoms = tuple([state for state in standing.active if state in tables.atoms])
        heard = dict.fromkeys([name for atom in atoms for name in self._alphabet.heard_outside(atom)])
        yield from [Happening(name, "outside") for name in heard]
        for state in standing.running:
            yield Happening(ACTIVITY_DONE + self._chart.nodes[state].path, "activity", state)
            for name in self._alphabet.heard(atoms, names=self._alphabet.ends(state)):
                yield Happening(name, "fuse" if name in FUSES else "failure", state)
        yield from [Happening(name, "raised") for name in self._alphabet.heard(atoms, names=self._alphabet.raised)]
        if tables.has_timers and standing.rests:
            for state in standing.active:
                yield from [Happening(timer.events[0], "time") for timer in tables.timers[state]]

    def _plain(self, standing: Standing) -> Standing:
        """Return a standing without the event, if no guard looks at it."""
        return standing if self._looks or not standing.event else replace(standing, event="")

    def _note(self, source: int, happening: Happening, leg: _Leg) -> None:
        self._tested.update([index for index, _ in leg.answers])
        fails = leg.endless or (leg.to.rests and bool(leg.to.stuck))
        if fails:
            target, stuck = NOWHERE, leg.to.stuck
        else:
            target, stuck = self._number(leg.to), ()
        if target == source and not leg.microsteps:
            return
        event, cause = happening.event, happening.cause
        edge = Edge(source, target, event, cause, leg.microsteps, leg.answers, stuck, leg.endless, happening.ended)
        (self._starts if source < 0 else self._steps[source]).append(edge)
        if target >= 0:
            self._reach(edge, far=(self._far[source] if source >= 0 else 0) + (happening is not CONTINUE))

    def _number(self, standing: Standing) -> int:
        number = self._numbers.get(standing)
        if number is None:
            number = self._numbers[standing] = len(self._nodes)
            self._nodes.append(standing)
            self._steps.append([])
            self._far.append(-1)
        return number

    def _reach(self, edge: Edge, *, far: int) -> None:
        """Note a way to a standing if it is the shortest so far; the middle of a step does not count."""
        number = edge.target
        known = self._far[number]
        if 0 <= known <= far:
            return
        if known < 0:
            self._parents.append(edge)
        self._parents[number] = edge
        self._far[number] = far
        if edge.cause == "settling":
            self._open.appendleft(number)
        else:
            self._open.append(number)
