"""Names instead of indexes, for tests."""

from __future__ import annotations

from collections.abc import Iterable

from stateward.chart.definition import Definition
from stateward.chart.event import Occurrence
from stateward.chart.step import Step


def at(chart: Definition, step: Step) -> list[str]:
    """Return the paths of the innermost active states."""
    return paths(chart, step.configuration.atomic(chart))


def paths(chart: Definition, states: Iterable[int]) -> list[str]:
    """Return states by path."""
    return [chart.nodes[state].path for state in states]


def seen(*names: str) -> list[Occurrence]:
    """Return happenings without data."""
    return [Occurrence(name=name) for name in names]
