"""Reminders of open questions: delayed events in the checkpoint, which go when the question is answered or left.

They are timers like those of `Delayed`, so they survive a restart, wake the session, and come to the chart as the
event `ask.reminder`. One that no transition takes stands in the timeline, for whoever looks after the session.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stateward.chart.delay import Cancel, Schedule
from stateward.chart.event import Occurrence
from stateward.run.checkpoint import Json
from stateward.run.people.question import REMINDER
from stateward.run.plan import Machine
from stateward.run.progress import Progress, agenda_of
from stateward.run.store.ask import Ask


def set_reminders(machine: Machine, progress: Progress, asks: Sequence[Ask]) -> None:
    """Set the reminders of questions that are put with a step.

    Args:
        machine: The lowered chart.
        progress: The step.
        asks: The questions.
    """
    wanted = [timer for ask in asks if ask.is_question for timer in _reminders(ask)]
    if wanted:
        progress.at = now = progress.now() if progress.at is None else progress.at
        agenda_of(machine, progress).note(tuple(wanted), now=now)


def _reminders(ask: Ask) -> Iterable[Schedule]:
    seconds: Sequence[float] = ask.arguments.get("remind_s", ())
    for number, each in enumerate(seconds, start=1):
        data = {"ask": ask.id, "state": ask.path, "question": ask.reason, "number": number}
        yield Schedule(id=ask.id, event=Occurrence(name=REMINDER, data=data), delay_s=each, owner=-1)


def drop_reminders(machine: Machine, progress: Progress, ids: Iterable[str]) -> None:
    """Forget the reminders of questions that nobody has to answer any more.

    Args:
        machine: The lowered chart.
        progress: The step.
        ids: The ids of the asks.
    """
    if progress.control.timers or progress.agenda is not None:
        agenda_of(machine, progress).note(tuple(Cancel(id=ask) for ask in ids), now=0.0)


def agenda_delta(progress: Progress) -> Json:
    """Return what the control channel has to learn of the pending timers; nothing when nothing changed.

    Args:
        progress: The step.
    """
    timers = progress.agenda.delta() if progress.agenda is not None else None
    return {} if timers is None else {"timers": timers}


def moved_reminders(timers: Mapping[str, Json], ids: Mapping[str, str]) -> dict[str, Json]:
    """Return the reminders of questions that are put again under other ids, as a fork does.

    Args:
        timers: From the control channel.
        ids: Old to new.
    """
    return {number: _moved(timer, ids[timer["id"]]) for number, timer in timers.items() if timer["id"] in ids}


def _moved(timer: Json, ask: str) -> Json:
    data: Mapping[str, Any] = timer["event"].get("data") or {}
    return {**timer, "id": ask, "event": {**timer["event"], "data": {**data, "ask": ask}}}
