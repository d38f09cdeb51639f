"""What happens later: events an action sends with a delay, and the timers a step sets and stops.

The kernel has no clock. It says what is to be scheduled and what is not wanted any more, in order; the shell turns a
delay into a moment, keeps what is pending with the checkpoint, and delivers each as one external event.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from stateward.chart.event import Event, Occurrence, event_name_of, occurrence_of
from stateward.errors import DefinitionError

AFTER = "after."
"""The start of the event of an `after` transition; the state's path and the transition's number follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """Forget every pending event of an id; nothing happens if there is none. Make it with `Delayed.cancel`.

    Source: SCXML 6.3.
    """

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """One event to deliver later, as a step says it."""

    id: str
    """What a `Cancel` names; empty: nothing cancels it."""
    event: Occurrence
    delay_s: float
    """Seconds from the step's moment, at least 0."""
    owner: int
    """The state whose exit cancels it; -1 for a `Delayed`, which stays whatever is left."""


Timers = tuple[Schedule | Cancel, ...]
"""What a step wants of the shell's clock; its order counts."""


@dataclass(frozen=True, slots=True)
class Delayed:
    """An event for later: an action returns it, alone or in a list with updates and events.

    Args:
        event: A typed event, a bare name or a happening.
        after_s: Seconds, finite and at least 0; 0 means after the present macrostep, and not in the middle of it.
        id: A name of the author's to cancel it by; empty if that is not wanted. Of an id several may be pending.

    Raises:
        DefinitionError: `event` is no event, or a bare name is not a legal event name. In an action that, too, is the
            event `error.action`.
        ValueError: `after_s` is negative or not finite, or `id` is no text or looks like a timer of the chart's own. In
            an action that is the event `error.action`.

    Source: SCXML 6.2, `<send>` with `delay` and `id`.
    """

    event: Event | Occurrence | str
    after_s: float = field(kw_only=True)
    id: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        _refuse_wrong(self.event)
        if not is_delay(self.after_s):
            raise ValueError(f"`after_s` is {self.after_s!r}; give finite seconds from 0")
        _refuse_own(self.id)

    @staticmethod
    def cancel(id: str) -> Cancel:
        """Return what an action returns to forget the pending events of an id.

        Args:
            id: The id given to `Delayed`; not empty.

        Raises:
            ValueError: The id is empty, or looks like a timer of the chart's own.

        Source: SCXML 6.3, `<cancel>`.
        """
        if not id:
            raise ValueError("Without an id there is nothing to cancel; give `Delayed` one")
        _refuse_own(id)
        return Cancel(id=id)

    def schedule(self) -> Schedule:
        """Return what the step says of it."""
        return Schedule(id=self.id, event=occurrence_of(self.event), delay_s=float(self.after_s), owner=-1)


def is_delay(seconds: object) -> bool:
    """Tell whether something is a number of seconds to wait: finite, at least 0, no truth value."""
    return isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < math.inf


def _refuse_wrong(event: object) -> None:
    if isinstance(event, str):
        event_name_of(event, where="Delayed(…)")
    elif not isinstance(event, Event | Occurrence):
        kind = event.__name__ if isinstance(event, type) and issubclass(event, Event) else ""
        raise DefinitionError(
            f"{event!r} is no event that could happen",
            where="Delayed(…)",
            fix=f"Make one: `{kind}(…)`." if kind else "Give a typed event, a bare name or a happening.",
        )


def _refuse_own(id: object) -> None:
    if not isinstance(id, str):
        raise ValueError(f"`id` is {id!r}; give a text, or leave it out")
    if id.startswith(AFTER):
        raise ValueError(f"`{id}` is the id of a timer of `after`, which only leaving its state cancels")
