"""A chart whose activity asks people three things at once."""

from __future__ import annotations

from typing import Any, TypedDict

import stateward as sw
from stateward import ask


class Trip(TypedDict, total=False):
    """The state."""

    ways: list[str]
    said: list[Any]


async def plan(state: Trip, run: sw.Run[Any]) -> dict[str, Any]:
    """Ask where to go, how, and whether the plan is right."""
    way = ask.choose("By which way?", state.get("ways") or ["train", "car"])
    return {"said": await run.ask_all([ask.text("Where to?"), way, ask.edit({"days": 1})])}


graph = sw.Chart("toy_asks", Trip, sw.State("PLAN", do=plan, asks=True, to="DONE"), sw.Final("DONE")).compile()
