"""A node of a replay: the chart's own, which tells the score where it stands and what it came to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import START
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from stateward.run.drive import Steps, drive_async, drive_sync
from stateward.run.graph import ChartGraph
from stateward.run.invocation import invocation_of
from stateward.run.plan import Machine
from stateward.run.replay.stage import Stage
from stateward.run.replay.stop import halt_in
from stateward.run.stopped import stopped_steps

LangGraph = CompiledStateGraph[Any, Any, Any, Any]


class PlayedNode(Runnable[Any, Command[Any]]):
    """A node around a node.

    Args:
        inner: The chart's own.
        stage: Where the run is played.
        machine: The lowered chart.
    """

    def __init__(self, inner: Runnable[Any, Any], stage: Stage, *, machine: Machine) -> None:
        self._machine = machine
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
        stopping = self._stopping(input, config)
        if stopping is not None:
            return self._stage.score.passed(drive_sync(stopping, bridge=invocation_of(config or {}).bridge))
        return self._stage.score.passed(self._inner.invoke(input, config, **kwargs))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Command[Any]:
        """Run the node on this event loop.

        Args:
            input: The state's values.
            config: LangGraph's config.
            kwargs: Passed on.
        """
        self._stage.set(input)
        stopping = self._stopping(input, config)
        if stopping is not None:
            return self._stage.score.passed(await drive_async(stopping, threads=invocation_of(config or {}).threads))
        return self._stage.score.passed(await self._inner.ainvoke(input, config, **kwargs))

    def _stopping(self, input: Any, config: RunnableConfig | None) -> Steps[Command[Any]] | None:
        """The step of a node whose run was stopped here, in place of its own."""
        halt = halt_in(self._stage.score.expected)
        return None if halt is None else stopped_steps(self._machine, input, config or {}, halt)


def played(graph: ChartGraph, stage: Stage) -> LangGraph:
    """Return a graph whose nodes play a record; LangGraph's own, which admits whatever it is given.

    Args:
        graph: The chart, attached to the database of the replay.
        stage: Where the run is played.
    """
    nodes = dict(graph.nodes)
    for name in nodes.keys() - {START}:
        around: dict[str, Any] = {"bound": PlayedNode(nodes[name].bound, stage, machine=graph.machine)}
        nodes[name] = nodes[name].copy(around)
    own = vars(graph).keys() - {"machine", "tables", "user_schema", "allowed", "__orig_class__"}
    attributes: dict[str, Any] = {key: vars(graph)[key] for key in own}
    make = cast("Callable[..., LangGraph]", CompiledStateGraph)
    return make(**{**attributes, "nodes": nodes})
