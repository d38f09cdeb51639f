"""A chart that naps: it waits for time to pass, and works until somebody says stop."""

from __future__ import annotations

import asyncio
import operator
import os
from pathlib import Path
from typing import Annotated, TypedDict

import stateward as sw

NAP_S = 60


class Nap(TypedDict, total=False):
    """The state."""

    log: Annotated[list[str], operator.add]
    work: bool


class Note(sw.Event):
    """Something to write down."""

    text: str


def write(state: Nap, event: Note) -> dict[str, list[str]]:
    """Write it down."""
    return {"log": [event.text]}


async def work(state: Nap) -> dict[str, list[str]]:
    """Say that work has begun, and never come to an end."""
    Path(os.environ["TOY_EFFECTS"]).with_suffix(".began").touch()
    await asyncio.Event().wait()
    return {"log": ["worked"]}


def wants_work(state: Nap) -> bool:
    """Whether there is work to do."""
    return state.get("work", False)


chart = sw.Chart(
    "toy_nap",
    Nap,
    sw.State("NAP", on=[sw.after(NAP_S, "REST")], always=[sw.when(wants_work, "WORK")]),
    sw.State("REST", on=[sw.after(3600, "DONE"), sw.on("stop", "DONE"), sw.on(Note, do=write)]),
    sw.State("WORK", do=work, to="DONE", on=[sw.on("stop", "REST", do=lambda state: {"log": ["stopped"]})]),
    sw.Final("DONE"),
)
graph = chart.compile()
