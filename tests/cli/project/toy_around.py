"""A graph around a room that waits; `state=NAME` says what the room's state is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

import stateward as sw


class Guests(TypedDict, total=False):
    """What both share."""

    guest: str


def build(*, overrides: Sequence[str] = ()) -> Any:
    """Make the graph, without a checkpointer."""
    name = dict(word.split("=", 1) for word in overrides).get("state", "OPEN")
    room = sw.Chart("room", Guests, sw.State(name, on=[sw.on("end", "DONE")]), sw.Final("DONE"))
    builder = StateGraph(Guests)
    builder.add_node("room", room.compile())
    builder.add_edge(START, "room")
    return builder.compile()


graph = build()
