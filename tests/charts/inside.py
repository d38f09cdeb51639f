"""A chart as a node under two definitions: its wait is called otherwise in the second."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.runnables import RunnableConfig

import stateward as sw
from stateward.migration import Migration, Report, aadopt_nodes, adopt_nodes
from stateward.run.graph import ChartGraph
from stateward.testing import How
from tests.charts.around import CONFIG, Trail

RENAMED = Migration(states={"WAIT": "PAUSE"})
"""From `pausing()` to `pausing("PAUSE")`."""


def pausing(wait: str = "WAIT", *, name: str = "inner") -> ChartGraph:
    """FIRST writes, a state waits for `go`, LAST writes again."""
    return sw.Chart(
        name,
        Trail,
        sw.State("FIRST", do=lambda state: {"log": ["first"]}, to=wait),
        sw.State(wait, on=[sw.on("go", "LAST")]),
        sw.State("LAST", do=lambda state: {"log": ["last"]}, to="DONE"),
        sw.Final("DONE"),
    ).compile()


def adopted(
    graph: Any, migration: Migration | None = None, *, how: How, config: RunnableConfig = CONFIG, **rest: Any
) -> tuple[Report, ...]:
    """Migrate the charts inside a graph the test's way."""
    if how == "sync":
        return adopt_nodes(graph, config, migration, by="ann", **rest)
    return asyncio.run(aadopt_nodes(graph, config, migration, by="ann", **rest))
