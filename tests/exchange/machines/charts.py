"""The charts of the golden files: the same three in Python, in SCXML and in XState."""

from __future__ import annotations

from typing import Any

import stateward as sw
from stateward.chart.compiler import build
from stateward.chart.definition import Definition
from stateward.exchange.registry import Registry


class Resume(sw.Event):
    """Go on where it was left."""


def is_rush_hour(state: Any) -> bool:
    """Tell whether there is much traffic."""
    return bool(state.get("rush"))


def waited(state: Any, *, minutes: int) -> bool:
    """Tell whether it took longer than that."""
    return state.get("minutes", 0) > minutes


def ring(state: Any) -> dict[str, int]:
    """Count how often the bell rang."""
    return {"rings": state.get("rings", 0) + 1}


def patience(state: Any) -> float:
    """Return the seconds to wait for a payment."""
    return 30.0


async def write(state: Any) -> dict[str, str]:
    """Write a draft."""
    return {"draft": "…"}


def receipt(state: Any) -> dict[str, int]:
    """Return what was bought."""
    return {"items": 3}


REGISTRY = Registry.of(
    guards=[is_rush_hour, waited],
    actions=[ring],
    activities=[write],
    delays=[patience],
    data=[receipt],
    events=[Resume],
)


def traffic_light() -> Definition:
    """A light that changes by time, and blinks at night."""
    return build(
        "traffic_light",
        [
            sw.Superstate(
                "DAY",
                sw.State("RED", on=[sw.after(30, "GREEN", when=is_rush_hour), sw.after(60, "GREEN")]),
                sw.State("GREEN", on=[sw.after(45.5, "YELLOW"), sw.on("pedestrian", do=ring)]),
                sw.State("YELLOW", on=sw.after(3, "RED")),
                on=sw.on("night", "NIGHT"),
            ),
            sw.State("NIGHT", on=sw.on("day", "DAY")),
        ],
    )


def editor() -> Definition:
    """A writer who is interrupted, and goes on exactly where it was."""
    return build(
        "editor",
        [
            sw.Superstate(
                "WORKING",
                sw.State("PLAN", on=sw.on("planned", "WRITE")),
                sw.Superstate(
                    "WRITE",
                    sw.State("DRAFT", do=write, model="writer", tools=["search"], timeout_s=90.0, to="REVIEW"),
                    sw.State("REVIEW", on=[sw.on("rejected", "DRAFT"), sw.on("accepted", "DONE")]),
                    sw.Final("DONE"),
                    to="DONE",
                ),
                sw.Final("DONE"),
                history="deep",
                to="SENT",
                on=sw.on("pause", "PAUSED"),
            ),
            sw.State("PAUSED", entry=ring, on=sw.on(Resume, sw.History("WORKING"))),
            sw.Final("SENT"),
        ],
    )


def order() -> Definition:
    """An order that is packed and paid at the same time."""
    return build(
        "order",
        [
            sw.Parallel(
                "OPEN",
                sw.Superstate("PACKING", sw.State("SHELF", on=sw.on("packed", "BOXED")), sw.Final("BOXED")),
                sw.Superstate(
                    "PAYING",
                    sw.State("BILLED", on=[sw.on("paid", "PAID"), sw.after(patience, "REMINDED")]),
                    sw.State("REMINDED", entry=ring, on=sw.on("paid", "PAID")),
                    sw.Final("PAID"),
                ),
                to="SHIPPED",
                on=[sw.on("express", ["OPEN.PACKING.BOXED", "OPEN.PAYING.PAID"]), sw.on("cancel", "CANCELLED")],
            ),
            sw.Final("SHIPPED", data=receipt),
            sw.Final("CANCELLED"),
        ],
    )


CHARTS = {"traffic_light": traffic_light, "editor": editor, "order": order}
