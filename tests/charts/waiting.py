"""A chart that waits at once, counts what it is told, and ends when told so."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from typing_extensions import TypedDict

import stateward as sw


class Heard(TypedDict, total=False):
    """What was heard."""

    heard: Annotated[list[str], operator.add]
    text: str


class Note(sw.Event):
    """Something to write down."""

    text: str
    times: int = 1


def write(state: Heard, event: Note) -> dict[str, Any]:
    return {"heard": [event.text] * event.times}


def welcome(state: Heard) -> dict[str, Any]:
    return {"heard": ["hello"]}


def waiting() -> sw.Chart[Heard]:
    """Build the chart; `input` is taken in OPEN only."""
    return sw.Chart(
        "waiting",
        Heard,
        sw.State(
            "OPEN",
            entry=welcome,
            on=[sw.on(Note, do=write), sw.on("input"), sw.on("lock", "LOCKED"), sw.on("end", "DONE")],
        ),
        sw.State("LOCKED", on=[sw.on("unlock", "OPEN")]),
        sw.Final("DONE"),
    )
