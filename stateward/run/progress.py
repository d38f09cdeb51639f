"""A step before it is committed: where it stands, and how the kernel takes it further."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from stateward.chart.configuration import Configuration
from stateward.chart.delay import Timers
from stateward.chart.event import Occurrence
from stateward.chart.step import Microstep, Step, advance
from stateward.errors import MicrostepLimit, NoTransition
from stateward.run.checkpoint import Control, Json
from stateward.run.data import ViewData
from stateward.run.plan import Machine
from stateward.run.timers import Agenda, joined, settle
from stateward.run.view import View

_FATAL = ("error", "fuse", "timeout", "unknown_after_crash", "ask.expired")
"""Events that end the run, or of several regions the one they belong to, when the chart does not react to them."""


def _no_time() -> float:
    return 0.0


@dataclass(slots=True, kw_only=True)
class Progress:
    """Where a step stands before it is committed."""

    control: Control
    view: View
    data: ViewData
    step: Step | None
    """What entering the chart did, in the first step of a run."""
    now: Callable[[], float] = _no_time
    """The injected clock, from which delays count; a trial step needs none."""
    also: Json = field(default_factory=dict[str, Any])
    """Keys of the control channel that are committed with the step, whatever it comes to."""
    at: float | None = None
    """The step's moment, once its timers asked for it; it is recorded, so that a replay sets them the same."""
    agenda: Agenda | None = None
    """The pending timers, once the step has looked at them."""
    timers: Timers = ()
    """What an activity scheduled and cancelled; it counts from the commit of its end."""
    prior: Step | None = None
    """What was taken before the event that the step is about; see `run/arrivals.py`."""
    letters: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """`taken` and `refused`: the numbers of the letters that the step has looked at, for its record."""
    broken: NoTransition | MicrostepLimit | None = None
    """Why the kernel could not go on there."""

    @property
    def began(self) -> Configuration:
        """The configuration in which the step began."""
        return self.step.configuration if self.step else self.control.configuration

    @property
    def configuration(self) -> Configuration:
        """The configuration the step works in: with what was taken before its event."""
        return self.prior.configuration if self.prior else self.began

    def microsteps(self, step: Step | None = None) -> tuple[Microstep, ...]:
        """Return what was done so far: entering the chart, in the first step of a run, and then a step of the kernel.

        Args:
            step: The kernel's step, when it came to one.
        """
        first = self.step.microsteps if self.step is not None and self.step is not step else ()
        own = step.microsteps if step is not None else ()
        return (*first, *own) if first else own

    def visible(self) -> Mapping[str, Any]:
        """Return the values an activity sees: with what entry actions of the start changed."""
        return dict(self.view) if self.view.writes else self.view.base


def stepped(machine: Machine, progress: Progress, events: Sequence[Occurrence]) -> Step:
    """Let the kernel process events, and then what is due by now.

    Args:
        machine: The lowered chart.
        progress: Where the step stands.
        events: What happened, in order.

    Raises:
        MicrostepLimit: It did not come to rest.
        NoTransition: A completed state's `to` led nowhere.
    """
    prior = progress.prior
    if progress.broken is not None:
        raise progress.broken
    if prior is not None and (not events or prior.final or ends_run(machine, prior)):
        return replace(prior, handled=False)
    if not events and progress.step is not None:
        return settled(machine, progress, progress.step)
    step = advance(machine.chart, progress.configuration, events, progress.data, limit=machine.microsteps)
    step = settled(machine, progress, step)
    return step if prior is None else replace(joined(prior, step), handled=step.handled)


def settled(machine: Machine, progress: Progress, step: Step) -> Step:
    """Give a step's timers their moments, and take what is due by now, each event as a macrostep of its own.

    Args:
        machine: The lowered chart.
        progress: Where the step stands.
        step: What the kernel just did.

    Raises:
        MicrostepLimit: It did not come to rest.
        NoTransition: A completed state's `to` led nowhere.
    """
    if progress.agenda is None and not step.timers and not progress.control.timers and not progress.timers:
        return step
    agenda = agenda_of(machine, progress)
    progress.at = now = progress.now() if progress.at is None else progress.at
    agenda.note(progress.timers, now=now)
    progress.timers = ()
    return settle(
        machine.chart,
        step,
        progress.data,
        agenda=agenda,
        now=now,
        limit=machine.microsteps,
        ends=partial(ends_run, machine),
    )


def agenda_of(machine: Machine, progress: Progress) -> Agenda:
    """Return the pending timers of a step, read at their first use.

    Args:
        machine: The lowered chart.
        progress: Where the step stands.
    """
    if progress.agenda is None:
        progress.agenda = Agenda(progress.control.timers, machine.chart)
    return progress.agenda


def ends_run(machine: Machine, step: Step) -> bool:
    """Tell whether the run ends with a step although the chart goes on: an event that ends a run was not taken.

    Args:
        machine: The lowered chart.
        step: What the kernel did.
    """
    several = machine.chart.tables.has_parallel and len(step.configuration.atomic(machine.chart)) > 1
    return not several and fatal_in(step) is not None


def fatal_in(step: Step) -> Occurrence | None:
    """Return the first event of a step that no transition took although it says that something failed, or None.

    Args:
        step: What the kernel did.
    """
    return next((event for event in step.unhandled if is_kind(event.name, _FATAL)), None) if step.unhandled else None


def is_kind(event: str, kinds: Sequence[str]) -> bool:
    """Tell whether an event is one of some kinds.

    Args:
        event: Its name.
        kinds: Names, each standing for all that begin with it and a dot.
    """
    return any(event == kind or event.startswith(f"{kind}.") for kind in kinds)
