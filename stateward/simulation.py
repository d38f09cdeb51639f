"""Stepping a chart by hand: the pure kernel over plain data, no activity runs and no model is needed."""

from __future__ import annotations

from typing import Any

from stateward.chart.configuration import Configuration
from stateward.chart.data import PlainData
from stateward.chart.definition import Definition
from stateward.chart.event import Event, Occurrence, occurrence_of
from stateward.chart.step import Step, advance, enabled, start
from stateward.chart.tables import ACTIVITY_DONE


class Simulation:
    """A chart that is stepped by hand.

    Args:
        chart: The definition.
        state: The data that guards and actions see; changed by actions and by `complete`.
    """

    def __init__(self, chart: Definition, *, state: dict[str, Any]) -> None:
        self.chart = chart
        self.data = PlainData(state)
        self.last: Step = start(chart, self.data)

    @property
    def configuration(self) -> Configuration:
        """Where the chart stands."""
        return self.last.configuration

    @property
    def at(self) -> tuple[str, ...]:
        """The paths of the active innermost states."""
        return tuple(self.chart.nodes[index].path for index in self.configuration.atomic(self.chart))

    @property
    def enabled(self) -> tuple[str, ...]:
        """The events some active state reacts to."""
        return enabled(self.chart, self.configuration)

    def send(self, event: Event | Occurrence | str) -> tuple[str, ...]:
        """Let an event happen.

        Args:
            event: A typed event, or a bare name.

        Returns:
            The active innermost states afterwards.

        Raises:
            NoTransition: A completed state's `to` led nowhere.
        """
        return self._take(occurrence_of(event))

    def complete(self, update: dict[str, Any] | None = None) -> tuple[str, ...]:
        """Say that the activity of the active state has ended.

        Args:
            update: What it would have written.

        Returns:
            The active innermost states afterwards.

        Raises:
            NoTransition: None of the state's `to` guards is true and it has no default.
        """
        self.data.state.update(update or {})
        path = self.at[-1]
        return self._take(Occurrence(name=f"{ACTIVITY_DONE}{path}"))

    def _take(self, event: Occurrence) -> tuple[str, ...]:
        self.last = advance(self.chart, self.configuration, [event], self.data)
        return self.at
