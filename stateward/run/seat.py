"""Where a session's graph has its checkpoints and tables: in the session's database, or nothing of it runs."""

from __future__ import annotations

from typing import cast

from langgraph.checkpoint.base import BaseCheckpointSaver

from stateward.errors import DefinitionError
from stateward.run.graph import ChartGraph
from stateward.run.store.database import Database


def seated(graph: ChartGraph, database: Database) -> ChartGraph:
    """Return a graph over a database, attached to it when it has no checkpointer of its own.

    Args:
        graph: A compiled chart.
        database: Where its sessions are to be.

    Returns:
        The graph itself when its tables are there already, else a copy that is attached.

    Raises:
        DefinitionError: It keeps its checkpoints elsewhere, and its tables as well.
    """
    tables = graph.tables
    saver = cast("object", graph.checkpointer)
    if not isinstance(saver, BaseCheckpointSaver):
        return graph.attach(database)
    if tables.attached is database or (database.url != "memory:" and _url(graph) == database.url):
        return graph
    place = f"`{_url(graph)}`" if _url(graph) else "another place"
    raise DefinitionError(
        f"The graph keeps its checkpoints with `{type(cast('object', saver)).__name__}` and its tables in {place}",
        where=f"graph `{graph.machine.name}`, database `{database.url}`",
        fix="Use the same database for both: `graph.attach(database)`, `compile(database=database)`, "
        "or compile it without a checkpointer.",
    )


def _url(graph: ChartGraph) -> str | None:
    return graph.tables.attached.url if graph.tables.attached is not None else graph.tables.url
