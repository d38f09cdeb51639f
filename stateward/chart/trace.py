"""What a step did, as values."""

from __future__ import annotations

from dataclasses import dataclass

from stateward.chart.configuration import Configuration
from stateward.chart.delay import Timers
from stateward.chart.event import Occurrence


@dataclass(frozen=True, slots=True, kw_only=True)
class Microstep:
    """One set of transitions taken together."""

    event: str | None
    """The event that triggered it; None if it was eventless or the start."""
    transitions: tuple[int, ...]
    exited: tuple[int, ...]
    """In the order they were left."""
    entered: tuple[int, ...]
    """In the order they were entered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a guard said."""

    transition: int
    passed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one call of the kernel did."""

    configuration: Configuration
    microsteps: tuple[Microstep, ...]
    handled: bool
    """Whether one of the given events led to a transition; always true of a start."""
    unhandled: tuple[Occurrence, ...]
    """Every event, given or raised, that led to none; a stale `done.activity` is not among them."""
    verdicts: tuple[Verdict, ...]
    """Every evaluation of a guard, in order."""
    starts: tuple[int, ...]
    """States with an activity that were entered and are still active, in document order."""
    exited: tuple[int, ...]
    """Every state that was left, in order; once for each time it was left."""
    final: bool
    """Whether the chart stands in a final state at the top."""
    output: object
    """The value of that final state's `data`, in the step that reached it."""
    timers: Timers = ()
    """What to schedule and what to cancel, in order; see `stateward.chart.delay`."""
