"""Charts that wait for time: a nap with a limit, reminders that can be called off, a queue of events to come."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from typing_extensions import TypedDict

import stateward as sw

NAP_S = 10.0
LIMIT_S = 60.0


class Timed(TypedDict, total=False):
    """What happened, and what was wanted."""

    log: Annotated[list[str], operator.add]
    wants: str


class Remind(sw.Event):
    """Say something later."""

    text: str
    after_s: float
    id: str = ""


class Forget(sw.Event):
    """Say it not."""

    id: str


class Reminder(sw.Event):
    """What was to be said."""

    text: str


def remind(state: Timed, event: Remind) -> Any:
    return sw.Delayed(Reminder(text=event.text), after_s=event.after_s, id=event.id)


def forget(state: Timed, event: Forget) -> Any:
    return sw.Delayed.cancel(event.id)


def say(state: Timed, event: Reminder) -> dict[str, Any]:
    return {"log": [event.text]}


def reminders() -> sw.Chart[Timed]:
    """A state that takes orders and says what it was told to say, when its time has come."""
    return sw.Chart(
        "reminders",
        Timed,
        sw.State(
            "OPEN",
            on=[
                sw.on(Remind, do=remind),
                sw.on(Forget, do=forget),
                sw.on(Reminder, do=say),
                sw.on("end", "DONE"),
            ],
        ),
        sw.Final("DONE"),
    )


def woke(state: Timed) -> dict[str, Any]:
    return {"log": ["woke"]}


def nap() -> sw.Chart[Timed]:
    """NAP ends after 10 s, by itself or when told; the whole stay inside has a limit of 60 s."""
    return sw.Chart(
        "nap",
        Timed,
        sw.Superstate(
            "HOUSE",
            sw.State("NAP", on=[sw.after(NAP_S, "UP", do=woke), sw.on("call", "UP")]),
            sw.State("UP", on=[sw.on("tired", "NAP"), sw.on("note", do=lambda state: {"log": ["note"]})]),
            on=[sw.after(LIMIT_S, "OUT")],
        ),
        sw.State("OUT", on=[sw.on("back", "HOUSE"), sw.on("end", "DONE")]),
        sw.Final("DONE"),
    )
