"""Three levels that log every entry, exit and action, with internal, external and targetless transitions."""

from __future__ import annotations

from collections.abc import Callable

from stateward.chart.compiler import build
from stateward.chart.definition import Definition
from stateward.chart.state import State, Superstate
from stateward.chart.transition import History, on

Log = dict[str, list[str]]


def log(text: str) -> Callable[[Log], Log]:
    """Return an action that appends to the log."""
    return lambda state: {"log": [*state["log"], text]}


def logged(name: str) -> dict[str, Callable[[Log], Log]]:
    """Return entry and exit actions that log."""
    return {"entry": log(f"+{name}"), "exit": log(f"-{name}")}


def nested() -> Definition:
    """Build the chart: A holds B, which holds C and D; E stands beside A."""
    return build(
        "nested",
        [
            Superstate(
                "A",
                Superstate(
                    "B",
                    State("C", on=[on("next", "D", do=log("next")), on("stay", do=log("stay"))], **logged("C")),
                    State("D", **logged("D")),
                    **logged("B"),
                ),
                State("X", **logged("X")),
                history="deep",
                on=[
                    on("leave", "E"),
                    on("again", "A"),
                    on("inside", "A.X", internal=True),
                    on("outside", "A.X"),
                ],
                **logged("A"),
            ),
            State("E", on=[on("back", History("A", deep=True))], **logged("E")),
        ],
    )
