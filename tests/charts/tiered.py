"""A state that brings its model to a ticket, tier by tier; what does not fit leads to HELP, the rest to DOWN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typing_extensions import TypedDict

import stateward as sw
from stateward.contracts import structured
from stateward.govern.policy import Policy
from tests.charts.drive import policy

GOOD = '{"category": "Account Access", "priority": "urgent", "sentiment": "anxious"}'
VAGUE = '{"category": "login", "priority": "ASAP please", "sentiment": "calm"}'
NONE = "I am only a model."


class Tickets(TypedDict, total=False):
    """What came of it."""

    came: dict[str, Any]


def writing(**options: Any) -> Callable[..., Any]:
    """An activity that asks for a ticket."""

    async def write(state: Tickets, run: sw.Run[Any]) -> dict[str, Any]:
        ticket = await structured(run, "A customer cannot log in", **{"contract": "Ticket", **options})
        return {"came": ticket.to_json()}

    return write


def writing_sync(**options: Any) -> Callable[..., Any]:
    """The same, from a sync activity."""

    def write(state: Tickets, run: sw.SyncRun[Any]) -> dict[str, Any]:
        ticket = structured(run, "A customer cannot log in", **{"contract": "Ticket", **options})
        return {"came": ticket.to_json()}

    return write


def tiered(model: Any, *, do: Any = None, rules: Policy | None = None, **state: Any) -> sw.ChartGraph:
    """Compile the chart."""
    chart = sw.Chart(
        "tiered",
        Tickets,
        sw.Superstate(
            "WORK",
            sw.State("WRITE", **{"do": do or writing(), "model": "writer", "to": "DONE", **state}),
            on=[sw.on("error.contract", "HELP"), sw.on("error", "DOWN"), sw.on("fuse", "DOWN")],
            policy=rules or policy("tiered"),
        ),
        sw.State("HELP", on=[sw.on("close", "DONE")]),
        sw.State("DOWN", on=[sw.on("close", "DONE")]),
        sw.Final("DONE"),
    )
    return chart.compile(models={"writer": model})
