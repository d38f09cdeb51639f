"""Timers at run time: delays become moments, what is pending lies in the checkpoint, what is due is delivered.

The kernel says what to schedule and what to cancel (`Step.timers`) and has no clock. An `Agenda` holds the pending
timers while a step is made and says what the control channel has to learn; `settle` takes what is due, each event as a
macrostep of its own, in the order of (due, number). A timer is in the checkpoint from the commit that set it to the
commit that took it, so that a crash between the two neither loses it nor fires it twice.

Source: SCXML 6.2 and 6.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from stateward.chart.configuration import Configuration
from stateward.chart.definition import Definition
from stateward.chart.delay import Cancel, Timers
from stateward.chart.event import Occurrence
from stateward.chart.step import Step, advance
from stateward.errors import MicrostepLimit
from stateward.run.checkpoint import Json, decode_event, encode_event
from stateward.run.data import ViewData


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    """One event that is to be delivered later."""

    number: int
    """Counts what is scheduled; of two that are due at once the lower comes first."""
    id: str
    """What a `Cancel` names; empty: nothing cancels it."""
    event: Occurrence
    due: float
    """Seconds since the epoch."""
    owner: str | None
    """Path of the state whose exit cancels it; None for a `Delayed`."""


class Agenda:
    """The pending timers of a run while a step is made.

    Args:
        stored: The control channel's `timers`.
        chart: The chart, for the types of events and the paths of owners.
    """

    __slots__ = ("_chart", "_dropped", "_last", "_new", "_pending", "_stored")

    def __init__(self, stored: Mapping[str, Json], chart: Definition) -> None:
        self._chart = chart
        self._stored = stored
        self._pending: dict[int, Timer] | None = None
        self._new: dict[int, Timer] = {}
        self._dropped: list[int] = []
        self._last = 0

    def __bool__(self) -> bool:
        """Whether anything is pending."""
        return bool(self._stored) if self._pending is None else bool(self._pending)

    @property
    def pending(self) -> tuple[Timer, ...]:
        """What is pending, in the order in which it will be delivered.

        Raises:
            CodecError: The stored data of an event no longer fits its type.
        """
        return tuple(sorted(self._read().values(), key=_order))

    @property
    def wakes_at(self) -> float | None:
        """When the first timer is due, in seconds since the epoch; None when nothing is pending."""
        return min((timer.due for timer in self._read().values()), default=None) if self else None

    def note(self, timers: Timers, *, now: float) -> None:
        """Schedule and cancel what a step of the kernel says, in its order.

        Args:
            timers: From `Step.timers`.
            now: The step's moment, in seconds since the epoch.
        """
        for each in timers:
            if isinstance(each, Cancel):
                self._cancel(each.id)
                continue
            pending = self._read()
            self._last += 1
            owner = None if each.owner < 0 else self._chart.nodes[each.owner].path
            timer = Timer(number=self._last, id=each.id, event=each.event, due=now + each.delay_s, owner=owner)
            pending[timer.number] = self._new[timer.number] = timer

    def due(self, now: float) -> Occurrence | None:
        """Take out the next event that is due.

        Args:
            now: Seconds since the epoch.

        Returns:
            The event; None when nothing is due yet.
        """
        first = min(self._read().values(), key=_order, default=None) if self else None
        if first is None or first.due > now:
            return None
        self._drop(first.number)
        return first.event

    def delta(self) -> Json | None:
        """Return what the control channel's `timers` has to learn; None when nothing changed."""
        delta: Json = dict.fromkeys(map(str, self._dropped))
        delta |= {str(number): _encoded(timer) for number, timer in self._new.items()}
        return delta or None

    def _cancel(self, id: str) -> None:
        if self:
            for number in [n for n, timer in self._read().items() if timer.id == id]:
                self._drop(number)

    def _drop(self, number: int) -> None:
        del self._read()[number]
        if self._new.pop(number, None) is None:
            self._dropped.append(number)

    def _read(self) -> dict[int, Timer]:
        """Decode what is stored, when somebody first asks."""
        if self._pending is None:
            self._pending = {int(key): _decoded(key, raw, self._chart) for key, raw in self._stored.items()}
            self._last = max(self._pending, default=0)
        return self._pending


def settle(
    chart: Definition,
    step: Step,
    data: ViewData,
    *,
    agenda: Agenda,
    now: float,
    limit: int,
    ends: Callable[[Step], bool] = lambda _: False,
) -> Step:
    """Note a step's timers, and take what is due by then, each event as a macrostep of its own.

    Args:
        chart: The chart.
        step: What the kernel just did.
        data: What guards and actions see.
        agenda: The pending timers; what is taken leaves it.
        now: The moment of the commit, in seconds since the epoch.
        limit: How many microsteps all macrosteps of the commit may take together, at least 1.
        ends: Whether the run ends with a step although the chart is not in a final state; nothing is taken then.

    Returns:
        The steps as one.

    Raises:
        MicrostepLimit: They did not come to rest within `limit` microsteps.
        NoTransition: A completed state's `to` led nowhere.
    """
    agenda.note(step.timers, now=now)
    while not step.final and not ends(step):
        event = agenda.due(now)
        if event is None:
            break
        if len(step.microsteps) >= limit:
            raise MicrostepLimit(
                f"The chart did not come to rest within {limit} microsteps: `{event.name}` is due at once again",
                fix="Give `after_s` a time above 0, or raise `fuse.microsteps`.",
                limit=limit,
            )
        data.events[event.name] = event
        more = advance(chart, step.configuration, (event,), data, limit=limit - len(step.microsteps))
        agenda.note(more.timers, now=now)
        step = joined(step, more)
    return step


def still(chart: Definition, configuration: Configuration) -> Step:
    """Return the step that does nothing, for `settle` to go on from.

    Args:
        chart: The chart.
        configuration: Where it stands.
    """
    final = not chart.tables.finals.isdisjoint(configuration.active)
    return Step(
        configuration=configuration,
        microsteps=(),
        handled=False,
        unhandled=(),
        verdicts=(),
        starts=(),
        exited=(),
        final=final,
        output=None,
    )


def joined(first: Step, second: Step) -> Step:
    """Return two steps of one commit as one; whether it was handled is what the first says.

    Args:
        first: What the kernel did.
        second: What it did next, from where the first came to rest.
    """
    left = set(second.exited)
    starts = {state for state in first.starts if state not in left} | set(second.starts)
    return replace(
        second,
        microsteps=first.microsteps + second.microsteps,
        handled=first.handled,
        unhandled=first.unhandled + second.unhandled,
        verdicts=first.verdicts + second.verdicts,
        starts=tuple(sorted(starts)),
        exited=first.exited + second.exited,
        timers=first.timers + second.timers,
    )


def _order(timer: Timer) -> tuple[float, int]:
    return timer.due, timer.number


def _encoded(timer: Timer) -> Json:
    return {"id": timer.id, "event": encode_event(timer.event), "due": timer.due, "owner": timer.owner}


def _decoded(key: str, raw: Mapping[str, Any], chart: Definition) -> Timer:
    event = decode_event(raw["event"], chart)
    if event is None:
        raise KeyError("event")
    return Timer(number=int(key), id=raw["id"], event=event, due=raw["due"], owner=raw["owner"])
