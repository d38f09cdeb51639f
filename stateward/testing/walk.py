"""A walk through a chart that Hypothesis takes: what can be done at each step, and what must not come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

from hypothesis.stateful import RuleBasedStateMachine

from stateward.chart.definition import Definition
from stateward.chart.event import Event, Occurrence, matches
from stateward.chart.property import BROKEN, Eventually, Property, Safety, state_of
from stateward.chart.step import Step
from stateward.run.resume import is_internal
from stateward.simulation import Simulation

Data = Mapping[str, object]
Declared = Property | Callable[[Sequence["Moment"]], bool]
"""What has to hold: a property of `stateward.properties`, or a function of all that has happened so far."""

_OWN_FAILURES = ("error.guard", "error.action", "error.delay")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One step of the walk, as properties see it."""

    event: str | None
    """What happened; None for the start."""
    entered: tuple[str, ...]
    """The paths of the states it entered, in order, each as often as it was entered."""
    exited: tuple[str, ...]
    """The paths of the states it left, in order."""
    active: frozenset[str]
    """The paths of all states that are active afterwards."""


class ChartMachine(RuleBasedStateMachine):
    """A walk through one chart; made by `chart_machine`."""

    chart: ClassVar[Definition]
    properties: ClassVar[tuple[Declared, ...]]
    simulate: ClassVar[Callable[[Data], Simulation]]

    def __init__(self) -> None:
        super().__init__()
        self.trace: list[Moment] = []
        """What has happened so far."""
        self.is_failed = False
        """Whether an activity failed and the chart has no transition for it, which ends the run."""
        self._simulation: Simulation | None = None
        self._seen = 0
        self._ended: set[tuple[str, int]] = set()
        self._marks = {each: 0 for each in self.properties if isinstance(each, Safety)}
        self._watchers = {each: each.watch(self.chart) for each in self._marks}

    @property
    def simulation(self) -> Simulation:
        """Where the walk stands."""
        assert self._simulation is not None, "the walk has not begun"
        return self._simulation

    @property
    def running(self) -> tuple[str, ...]:
        """The paths of the states whose activity is running."""
        if self.is_over:
            return ()
        return tuple(path for path in self.simulation.activities if (path, self._activation(path)) not in self._ended)

    @property
    def is_over(self) -> bool:
        """Whether the chart has ended, or the run failed."""
        return self.is_failed or self.simulation.last.final

    @property
    def can_go_on(self) -> bool:
        """Whether anything can happen: an event is awaited, an activity runs, or time will bring something."""
        if self.is_over:
            return False
        awaited = any(not is_internal(each) for each in self.simulation.enabled)
        return bool(awaited or self.running or self.simulation.pending)

    def begin(self, state: Data) -> None:
        """Enter the chart.

        Args:
            state: The data it begins with.
        """
        self._simulation = type(self).simulate(deepcopy(state))
        self._note(None)

    def awaits(self, name: str) -> bool:
        """Tell whether some active state reacts to an event.

        Args:
            name: The event's name.
        """
        return not self.is_over and any(matches((each,), name=name) for each in self.simulation.enabled)

    def send(self, event: Event | Occurrence) -> None:
        """Let an event happen.

        Args:
            event: What happens.
        """
        self.simulation.send(event)
        self._note(event.name if isinstance(event, Occurrence) else type(event).__name__)

    def end(self, path: str, update: Data) -> None:
        """Let an activity end.

        Args:
            path: Of its state.
            update: What it writes.
        """
        self.simulation.complete(dict(update), path=path)
        self._note(f"end of {path}")

    def fail(self, path: str, event: Occurrence) -> None:
        """Let an activity fail.

        Args:
            path: Of its state.
            event: What the chart gets.
        """
        self._ended.add((path, self._activation(path)))
        self.simulation.send(event)
        self.is_failed = not self.simulation.steps[self._seen].handled
        self._note(event.name)

    def pass_time(self, seconds: float) -> None:
        """Let time pass.

        Args:
            seconds: How long.
        """
        self.simulation.wait(seconds)
        self._note(f"{seconds:g} s")

    def _activation(self, path: str) -> int:
        return self.simulation.configuration.activation(self.chart.by_path[path])

    def _note(self, event: str | None) -> None:
        """Look at the steps since the last look; several, where timers fell due."""
        for step in self.simulation.steps[self._seen :]:
            self._seen += 1
            self.trace.append(moment(self.chart, step, event=event))
            _refuse_illegal(self.chart, step)
            self._watch(step)
        for declared in self.properties:
            if not isinstance(declared, Safety | Eventually):
                assert declared(tuple(self.trace)), f"{_named(declared)} does not hold"
        if not self.can_go_on and not self.is_failed:
            self._refuse_unfulfilled()

    def _watch(self, step: Step) -> None:
        for declared, watcher in self._watchers.items():
            for micro in step.microsteps:
                self._marks[declared] = watcher.after(self._marks[declared], entered=micro.entered)
            assert self._marks[declared] != BROKEN, f"{declared} does not hold: {self.trace[-1]}"

    def _refuse_unfulfilled(self) -> None:
        """The walk ends here, so what has not come will not come."""
        visited = self.simulation.configuration.entries
        for declared in self.properties:
            if isinstance(declared, Eventually):
                state = state_of(declared.state, chart=self.chart)
                assert visited.get(state), f"{declared} does not hold: nothing more can happen at {self.simulation.at}"


def _refuse_illegal(chart: Definition, step: Step) -> None:
    wrong = illegal(chart, step.configuration.active)
    assert not wrong, wrong
    for lost in step.unhandled:
        told = f"`{lost.name}`, and the chart has no transition for it: {lost.data}"
        assert not lost.name.startswith(_OWN_FAILURES), told


def _named(declared: object) -> str:
    return f"`{getattr(declared, '__name__', declared)}`"


def moment(chart: Definition, step: Step, *, event: str | None) -> Moment:
    """Return a step as properties see it.

    Args:
        chart: Whose step it is.
        step: What the kernel did.
        event: What happened.
    """
    entered = [state for micro in step.microsteps for state in micro.entered if state]
    return Moment(
        event=event,
        entered=tuple(chart.nodes[state].path for state in entered),
        exited=tuple(chart.nodes[state].path for state in step.exited),
        active=frozenset(chart.nodes[state].path for state in step.configuration.active if state),
    )


def illegal(chart: Definition, active: Sequence[int]) -> str:
    """Return what is wrong with active states, or nothing.

    Args:
        chart: Whose states they are.
        active: The states.

    Source: SCXML 3.11.
    """
    standing = set(active)
    for node in (chart.nodes[state] for state in sorted(standing)):
        regions = [child for child in node.children if chart.nodes[child].kind != "history"]
        inside = [child for child in regions if child in standing]
        if node.kind == "history" or not (node.parent in standing or node.parent < 0):
            return f"`{node.path}` is active, which it cannot be"
        if (node.kind == "compound" and len(inside) != 1) or (node.kind == "parallel" and inside != regions):
            return f"`{node.path}` is active with {len(inside)} of its {len(regions)} states"
    return "" if 0 in standing else "no state is active"
