"""What the session layer needs of a chart that runs, and the plainest of the three ways: the bare kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from stateward.chart.configuration import Configuration
from stateward.chart.data import PlainData
from stateward.chart.definition import Definition
from stateward.chart.delay import Cancel
from stateward.chart.event import Occurrence
from stateward.chart.step import Step, advance, start
from stateward.testing import ManualClock
from tests.conformance.block import KEY, Json


@dataclass(frozen=True, slots=True)
class Pending:
    """An event the chart sent itself for later."""

    due: float
    id: str
    event: Occurrence


class Engine(Protocol):
    """One chart while it runs. Time stands still inside of it; the clock is moved by the session layer."""

    chart: Definition

    def start(self, data: Json) -> None:
        """Enter the chart."""
        ...

    def tell(self, event: Occurrence) -> None:
        """Take one external event."""
        ...

    def fire(self) -> None:
        """Take the events that are due: the first one at least."""
        ...

    def write(self, data: Json) -> None:
        """Change the session's data between two macrosteps."""
        ...

    @property
    def pending(self) -> Sequence[Pending]:
        """The events that are not yet due, or not yet fired, in the order they will be."""
        ...

    @property
    def data(self) -> Json:
        """The session's data."""
        ...

    @property
    def configuration(self) -> Configuration:
        """Where the chart stands."""
        ...


class KernelEngine:
    """The bare kernel.

    Args:
        chart: The chart.
        clock: Says when an event is due.
    """

    def __init__(self, chart: Definition, *, clock: ManualClock) -> None:
        self.chart = chart
        self._clock = clock
        self._data = PlainData()
        self.configuration = Configuration()
        self.pending: list[Pending] = []

    def start(self, data: Json) -> None:
        """Enter the chart."""
        self._data = PlainData({KEY: data})
        self._take(start(self.chart, self._data))

    def tell(self, event: Occurrence) -> None:
        """Take one external event."""
        self._take(advance(self.chart, self.configuration, [event], self._data))

    def fire(self) -> None:
        """Take the first event that is due."""
        self.tell(self.pending.pop(0).event)

    def write(self, data: Json) -> None:
        """Change the session's data between two macrosteps."""
        self._data.state[KEY] = data

    @classmethod
    def at(
        cls,
        chart: Definition,
        *,
        clock: ManualClock,
        configuration: Configuration,
        data: Json,
        pending: Sequence[Pending],
    ) -> KernelEngine:
        """Return one that goes on from where a chart stood.

        Args:
            chart: The chart.
            clock: Says when an event is due.
            configuration: Where it stood.
            data: The session's data then.
            pending: What was pending.
        """
        engine = cls(chart, clock=clock)
        engine.configuration, engine.pending = configuration, list(pending)
        engine._data = PlainData({KEY: data})
        return engine

    @property
    def data(self) -> Json:
        """The session's data."""
        held: Any = self._data.state[KEY]
        return held

    @property
    def is_final(self) -> bool:
        """Whether the chart has reached its end."""
        return not self.chart.tables.finals.isdisjoint(self.configuration.active)

    def _take(self, step: Step) -> None:
        self.configuration = step.configuration
        for timer in step.timers:
            if isinstance(timer, Cancel):
                self.pending = [each for each in self.pending if each.id != timer.id]
            else:
                self.pending.append(Pending(self._clock.now() + timer.delay_s, timer.id, timer.event))
        self.pending.sort(key=lambda each: each.due)
