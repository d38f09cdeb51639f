"""A toy bill: two ways lead from one state to another, so that a history has to say which was taken."""

from __future__ import annotations

from typing import TypedDict

import stateward as sw


class State(TypedDict, total=False):
    """The bill."""

    paid: bool


graph = sw.Chart(
    "toy_pay",
    State,
    sw.State("OPEN", on=[sw.on("cash", "PAID"), sw.on("card", "PAID")]),
    sw.Final("PAID"),
).compile()
