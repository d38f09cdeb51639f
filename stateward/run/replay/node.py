"""A node of a replay: the chart's own, which tells the score where it stands and what it came to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import START
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from stateward.run.graph import ChartGraph
from stateward.run.replay.stage import Stage

LangGraph = CompiledStateGraph[Any, Any, Any, Any]


class PlayedNode(Runnable[Any, Command[Any]]):
    """A node around a node.

    Args:
        inner: The chart's own.
        stage: Where the run is played.
    """

    def __init__(self, inner: Runnable[Any, Any], stage: Stage) -> None:
        self._inner = inner
        self._stage = stage

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Command[Any]:
        """Run the node in this thread.

        Args:
            input: The state's values.
            config: LangGraph's config.
            kwargs: Passed on.
        """
        self._stage.set(input)
        return self._stage.score.passed(self._inner.invoke(input, config, **kwargs))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Command[Any]:
        """Run the node on this event loop.

        Args:
            input: The state's values.
            config: LangGraph's config.
            kwargs: Passed on.
        """
        self._stage.set(input)
        return self._stage.score.passed(await self._inner.ainvoke(input, config, **kwargs))


def played(graph: ChartGraph, stage: Stage) -> LangGraph:
    """Return a graph whose nodes play a record; LangGraph's own, which admits whatever it is given.

    Args:
        graph: The chart, attached to the database of the replay.
        stage: Where the run is played.
    """
    nodes = dict(graph.nodes)
    for name in nodes.keys() - {START}:
        around: dict[str, Any] = {"bound": PlayedNode(nodes[name].bound, stage)}
        nodes[name] = nodes[name].copy(around)
    own = vars(graph).keys() - {"machine", "tables", "user_schema", "allowed", "__orig_class__"}
    attributes: dict[str, Any] = {key: vars(graph)[key] for key in own}
    make = cast("Callable[..., LangGraph]", CompiledStateGraph)
    return make(**{**attributes, "nodes": nodes})
