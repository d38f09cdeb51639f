"""States that are complete at once, a superstate that completes, and guards that may leave no way out."""

from __future__ import annotations

from stateward.chart.compiler import build
from stateward.chart.definition import Definition
from stateward.chart.state import Final, State, Superstate
from stateward.chart.transition import on, when


def big(state: dict[str, int]) -> bool:
    """Tell whether the amount is big."""
    return state["amount"] > 100


def small(state: dict[str, int]) -> bool:
    """Tell whether the amount is small; fails on a negative one."""
    if state["amount"] < 0:
        raise ValueError("negative amount")
    return state["amount"] < 10


def choice() -> Definition:
    """Build the chart."""
    return build(
        "choice",
        [
            State("WAIT", on=[on("go", "JOB")]),
            Superstate(
                "JOB",
                State("ROUTE", to=[when(big, "LARGE"), when(small, "SMALL")]),
                State("LARGE", to="END"),
                State("SMALL", to="END"),
                Final("END", data=lambda state: state["amount"]),
                to="CLOSED",
            ),
            Final("CLOSED", data=lambda state, event: event.data),
            State("FAILED"),
        ],
        on=[on("error.guard", "FAILED", when=lambda state: state.get("forgive", False))],
    )
