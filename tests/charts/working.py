"""A superstate that plans, acts and reflects, is left when the user says stop, and is returned to by history."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from typing_extensions import TypedDict

import stateward as sw
from stateward.run.graph import ChartGraph


class Work(TypedDict, total=False):
    """What the work knows."""

    messages: sw.Messages
    trail: Annotated[list[str], operator.add]
    note: str


class Resume(sw.Event):
    """Go on."""

    note: str = ""


async def plan(state: Work) -> dict[str, Any]:
    return {"trail": ["plan"]}


def act(state: Work, run: sw.SyncRun[Any]) -> dict[str, Any]:
    return {"trail": [f"act {run.activation}"], "messages": [("ai", state.get("note") or "acted")]}


def reflect(state: Work) -> dict[str, Any]:
    return {"trail": ["reflect"]}


def needs_more(state: Work) -> bool:
    return state["trail"].count("reflect") < 2


def said_stop(state: Work) -> bool:
    return any("stop" in message.text for message in state.get("messages", []))


def remember(state: Work, event: Resume) -> dict[str, Any]:
    return {"note": event.note}


def working() -> sw.Chart[Work]:
    """Build the chart."""
    return sw.Chart(
        "working",
        Work,
        sw.Superstate(
            "WORKING",
            sw.State("PLAN", do=plan, to="ACT"),
            sw.State("ACT", do=act, to="REFLECT"),
            sw.State("REFLECT", do=reflect, to=[sw.when(needs_more, "PLAN"), "DONE"]),
            history="shallow",
            on=[sw.on("pause", "PAUSED")],
            always=[sw.when(said_stop, "PAUSED")],
        ),
        sw.State(
            "PAUSED",
            on=[sw.on(Resume, sw.History("WORKING"), do=remember), sw.on("input", sw.History("WORKING"))],
        ),
        sw.Final("DONE"),
    )


def graph() -> ChartGraph:
    """Compile the chart."""
    return working().compile()
