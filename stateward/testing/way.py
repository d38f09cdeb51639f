"""Both ways to run a graph, so that one test covers both."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Literal, cast

from langchain_core.runnables import RunnableConfig

from stateward.run.graph import ChartGraph

How = Literal["sync", "async"]
"""`sync`: through `invoke`; `async`: through `ainvoke`."""


def run_graph(
    graph: ChartGraph, given: object, *, how: How, config: RunnableConfig | None = None, **kwargs: Any
) -> Any:
    """Run a graph through one of the two ways, so that one test covers both.

    Args:
        graph: The compiled chart.
        given: Its input.
        how: Which way.
        config: LangGraph's config.
        kwargs: LangGraph's other arguments.

    Returns:
        What `invoke` or `ainvoke` returns.
    """
    if how == "sync":
        return graph.invoke(given, config, **kwargs)
    running = cast("Coroutine[Any, Any, Any]", graph.ainvoke(given, config, **kwargs))
    return asyncio.run(running)
