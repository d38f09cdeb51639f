"""A superstate that plans, acts and reflects, can be paused, and goes on where it was."""

from __future__ import annotations

from stateward.chart.compiler import build
from stateward.chart.definition import Definition
from stateward.chart.event import Event
from stateward.chart.state import Final, State, Superstate
from stateward.chart.transition import History, on, when


class Resume(Event):
    """Go on, with a note."""

    note: str = ""


def think(state: dict[str, object]) -> None:
    """Stand for any activity: the bare kernel never calls it."""


def count(state: dict[str, int]) -> dict[str, int]:
    """Count an entry of ACT."""
    return {"n": state.get("n", 0) + 1}


def needs_more(state: dict[str, int]) -> bool:
    """Tell whether another round is due."""
    return state.get("n", 0) < state.get("rounds", 2)


def said_stop(state: dict[str, bool]) -> bool:
    """Tell whether the user said stop."""
    return state.get("stop", False)


def remember(state: dict[str, object], event: Resume) -> dict[str, object]:
    """Keep the note of the event."""
    return {"note": event.note}


def working() -> Definition:
    """Build the chart."""
    return build(
        "working",
        [
            Superstate(
                "WORKING",
                State("PLAN", do=think, to="ACT"),
                State("ACT", do=think, tools=["search"], entry=count, to="REFLECT"),
                State("REFLECT", do=think, to=[when(needs_more, "PLAN"), "DONE"]),
                history="shallow",
                on=[on("pause", "PAUSED")],
                always=[when(said_stop, "DONE")],
            ),
            State("PAUSED", on=[on(Resume, History("WORKING"), do=remember)]),
            Final("DONE", data=lambda state: state["n"]),
        ],
    )
