"""Where a chart stands: the active states, what history remembers, how often each state was entered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stateward.chart.definition import Definition


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """A chart's whole standing between two steps."""

    active: tuple[int, ...] = ()
    """Active states in document order, the root included."""
    history: Mapping[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    """Per history state: the states it stands for."""
    entries: Mapping[int, int] = field(default_factory=dict[int, int])
    """Per state: how often it was entered; the n-th entry is its activation n."""

    def atomic(self, chart: Definition) -> tuple[int, ...]:
        """Return the active states that have no states inside, in document order."""
        atoms = chart.tables.atoms
        return tuple([state for state in self.active if state in atoms])

    def is_in(self, path: str, *, chart: Definition) -> bool:
        """Tell whether the state at a path is active.

        Raises:
            KeyError: The chart has no such path.
        """
        return chart.by_path[path] in self.active

    def activation(self, state: int) -> int:
        """Return the number of a state's latest entry, counted from 1; 0 if it was never entered."""
        return self.entries.get(state, 0)


def paths_of(chart: Definition, active: tuple[int, ...]) -> frozenset[str]:
    """Return the paths of active states, without the root's: what a function sees that names `active`.

    Args:
        chart: The chart.
        active: The active states.

    Source: SCXML 5.9.1, `In()`.
    """
    return frozenset([chart.nodes[state].path for state in active if state])
