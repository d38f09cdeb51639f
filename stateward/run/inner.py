"""A LangGraph graph as a state's activity: of what it holds at its end, what is new is the state's update.

A graph returns its whole state. Taken for an update, that adds what the chart's additive keys already held a second
time (HAZARDS 16). So each key with a reducer gets the updates that the graph's own nodes made of it, one by one,
messages are told apart by their ids, and other keys count when they differ. Where that cannot be known, because the
graph accumulates the key otherwise or not at all, the chart is refused when it is compiled.

A graph that is no chart runs detached, without checkpoints of its own: an activity is entered again after a crash and
not resumed in its middle (DESIGN decisions 5 and 16). One compiled with `checkpointer=True` keeps its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast, runtime_checkable

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda, RunnableSequence, ensure_config
from langchain_core.runnables.base import RunnableBindingBase
from langgraph.channels.base import BaseChannel
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.channels.delta import DeltaChannel
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.types import Command

from stateward.errors import DefinitionError
from stateward.run.mapped import Renaming
from stateward.run.messages import is_message_channel
from stateward.run.nested import for_parent
from stateward.run.state import StateSchema
from stateward.run.update import as_update

AnyGraph = CompiledStateGraph[Any, Any, Any, Any]
Writes = Sequence[tuple[str, Any]]
_DURABILITY = "__pregel_durability"
"""LangGraph's name for when checkpoints are written, which a graph inside takes over."""


@runtime_checkable
class Telling(Protocol):
    """A compiled chart: it knows itself what it changed."""

    async def achanged(self, input: Any, config: RunnableConfig) -> tuple[Mapping[str, Any], Command[Any]]:
        """Run it, and return its state and what it changed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a graph came to."""

    update: Mapping[str, Any]
    """What is new; of several updates of one key the last."""
    earlier: Sequence[Mapping[str, Any]] = ()
    """Those before it, in order."""
    same: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Keys without a reducer that are as they were: a gate looks at them too."""


class Inner(Runnable[Any, Told]):
    """A graph that stands as a state's activity.

    Args:
        graph: The graph.
        inward: What the graph gets of the state; None for the state.
        outward: What becomes of its writes; None for the same.
        named: The key outside for each of the graph's; None where a map says what is meant.
    """

    def __init__(
        self,
        graph: AnyGraph,
        *,
        inward: Callable[[Any], Any] | None = None,
        outward: Callable[[Writes], Writes] | None = None,
        named: Callable[[str], str] | None = str,
    ) -> None:
        self.graph = graph
        self.named = named
        self._inward = inward
        self._outward = outward
        self._reads = _keys(graph, graph.builder.input_schema)
        self._tells = isinstance(graph, Telling)
        lasting = self._tells or graph.checkpointer is True
        self._runs = graph if lasting else graph.copy({"checkpointer": False})
        every = cast("dict[str, BaseChannel[Any, Any, Any]]", graph.channels)
        channels = {key: every[key] for key in _keys(graph, graph.builder.output_schema) if key in every}
        self._schema = StateSchema(schema=graph.builder.state_schema, channels=channels, types={})

    def within(self, inward: Callable[[Any], Any], outward: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Inner:
        """Return it inside a chart that stands in another one under other names.

        Args:
            inward: What that chart sees of the state.
            outward: What becomes of its updates.
        """
        own = self

        def renamed(key: str) -> str:
            return next(iter(outward({cast("Callable[[str], str]", own.named)(key): None})))

        def written(writes: Writes) -> Writes:
            return [pair for key, value in own.translated(writes) for pair in outward({key: value}).items()]

        return Inner(
            self.graph,
            inward=lambda state: own.seen(inward(state)),
            outward=written,
            named=None if self.named is None else renamed,
        )

    def seen(self, state: Any) -> Any:
        """Return what the graph gets of a state."""
        return state if self._inward is None else self._inward(state)

    def translated(self, writes: Writes) -> Writes:
        """Return the graph's writes under the names outside."""
        return writes if self._outward is None else self._outward(writes)

    def check(self, schema: StateSchema, *, where: str) -> None:
        """Refuse a graph of which it cannot be known what is new.

        Args:
            schema: The chart's channels.
            where: The state.

        Raises:
            DefinitionError: It is handed a key that the chart accumulates, and treats it otherwise.
        """
        for key in shared(self, schema):
            outer = cast("Callable[[str], str]", self.named)(key)
            if not _reduce_alike(self._schema.channels[key], schema.channels[outer]):
                raise unknowable(self.graph, key, where=where, why="the graph does not accumulate it the same way")
            if self.graph.checkpointer is True and key not in self._schema.messages:
                raise unknowable(self.graph, key, where=where, why="the graph remembers what it was handed before")

    @property
    def hands_on(self) -> Iterator[str]:
        """The graph's keys that it is handed and returns."""
        return (key for key in self._schema.channels if key in self._reads)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Told:
        """Refuse to run in this thread: a Runnable that is an activity is always awaited.

        Args:
            input: The state.
            config: LangGraph's config.
            kwargs: Unused.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError("a graph that is an activity is awaited")

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Told:
        """Run the graph on this event loop.

        Args:
            input: The state.
            config: LangGraph's config; by default that of the node around.
            kwargs: Unused.

        Returns:
            What the graph came to.
        """
        final, writes = await self.ran(self.seen(input), config)
        new = {key for key, _ in writes}
        same = [(key, final[key]) for key in final if key not in new and key not in self._schema.reducing]
        return _told(self.translated(writes), same=self.translated(same))

    async def ran(self, given: Any, config: RunnableConfig | None = None) -> tuple[Mapping[str, Any], Writes]:
        """Run the graph.

        Args:
            given: Its input.
            config: LangGraph's config; by default that of the node around.

        Returns:
            Its state at the end, and what is new in it.
        """
        config = ensure_config(config)
        if self._tells:
            final, command = await cast(Telling, self._runs).achanged(given, config)
        else:
            final, command = await self._changed(given, config)
        return final, cast("list[tuple[str, Any]]", command.update)

    async def _changed(self, given: Any, config: RunnableConfig) -> tuple[Mapping[str, Any], Command[Any]]:
        if self._runs.checkpointer is False:
            # LangGraph would wait for a checkpoint that there is not, if the graph around waits for its own.
            config = {**config, "configurable": {**config.get("configurable", {}), _DURABILITY: "async"}}
        modes: Any = ["updates", "values"]
        parts = cast("list[Any]", await self._runs.ainvoke(given, config, stream_mode=modes))
        final: Mapping[str, Any] = {}
        updates: dict[str, list[Any]] = {}
        for mode, payload in parts:
            if mode == "values":
                final = payload
            else:
                for key, value in _written(payload):
                    updates.setdefault(key, []).append(value)
        had = {key: value for key, value in as_update(given, where="the input").items() if key in self._reads}
        return final, for_parent(self._schema, given=had, final=final, shared=updates)


def inner(do: object) -> Inner | None:
    """Return a graph as an activity.

    Args:
        do: What an author gave as `do=`.

    Returns:
        None if it is no graph whose state is known, with or without maps by name around it.
    """
    if isinstance(do, Inner):
        return do
    if isinstance(do, CompiledStateGraph):
        return Inner(cast("AnyGraph", do))
    steps = cast("list[Any]", do.steps) if isinstance(do, RunnableSequence) else []
    if len(steps) == 3 and isinstance(steps[1], CompiledStateGraph) and isinstance(steps[2], Renaming):
        names = steps[2].names
        return Inner(
            cast("AnyGraph", steps[1]),
            inward=cast("RunnableLambda[Any, Any]", steps[0]).invoke,
            outward=lambda writes: [(names[key], value) for key, value in writes if key in names],
            named=None,
        )
    return None


def graph_in(do: object) -> Pregel[Any, Any, Any, Any] | None:
    """Find the graph that an activity is, or is made of.

    Args:
        do: What an author gave as `do=`.
    """
    if isinstance(do, Pregel):
        return cast("Pregel[Any, Any, Any, Any]", do)
    if isinstance(do, Inner):
        return do.graph
    if isinstance(do, RunnableBindingBase):
        return graph_in(cast("RunnableBindingBase[Any, Any]", do).bound)
    if isinstance(do, RunnableSequence):
        found = (graph_in(step) for step in cast("RunnableSequence[Any, Any]", do).steps)
        return next((graph for graph in found if graph is not None), None)
    return None


def ready(do: Runnable[Any, Any], schema: StateSchema, *, where: str) -> Runnable[Any, Any]:
    """Make a Runnable ready to be a state's activity.

    Args:
        do: What the author gave.
        schema: The chart's channels.
        where: The state.

    Returns:
        The same; a graph so that only what is new counts.

    Raises:
        DefinitionError: It is a graph of which that cannot be known.
    """
    stands = inner(do)
    if stands is not None:
        stands.check(schema, where=where)
        return stands
    graph = graph_in(do) if isinstance(do, RunnableBindingBase) else None
    if isinstance(graph, CompiledStateGraph):
        wrapped = Inner(graph)
        for key in shared(wrapped, schema):
            raise unknowable(wrapped.graph, key, where=where, why=f"the graph stands in a {type(do).__name__}")
    return do


def shared(stands: Inner, schema: StateSchema) -> Iterator[str]:
    """Return the keys of a graph that the chart around accumulates.

    Args:
        stands: The graph.
        schema: The chart's channels.
    """
    named = stands.named
    return iter(()) if named is None else (key for key in stands.hands_on if named(key) in schema.reducing)


def unknowable(graph: AnyGraph, key: str, *, where: str, why: str) -> DefinitionError:
    """Return the error of a graph of which it cannot be known what is new.

    Args:
        graph: The graph.
        key: Its key.
        where: The state.
        why: Why not.
    """
    return DefinitionError(
        f"What the graph `{graph.name}` adds to `{key}` cannot be known: {why}",
        where=where,
        fix=f"Give `{key}` the same reducer in both, map its keys by name with `graph.mapped(…)` if it is a chart, or "
        "call it in a function that returns only what is new.",
        key=key,
    )


def _keys(graph: AnyGraph, schema: Any) -> tuple[str, ...]:
    schemas = cast("Mapping[Any, Mapping[str, Any]]", graph.builder.schemas)
    return tuple(schemas.get(schema, {}))


def _reduce_alike(one: BaseChannel[Any, Any, Any], other: BaseChannel[Any, Any, Any]) -> bool:
    return (is_message_channel(one) and is_message_channel(other)) or _reducer(one) is _reducer(other)


def _reducer(channel: BaseChannel[Any, Any, Any]) -> object:
    if isinstance(channel, BinaryOperatorAggregate):
        return channel.operator
    return channel.reducer if isinstance(channel, DeltaChannel) else channel


def _written(payload: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What the nodes of one step wrote, from a part of LangGraph's stream of updates."""
    for node, told in payload.items():
        if not node.startswith("__"):
            for each in cast("list[Any]", told if isinstance(told, list) else [told]):
                yield from cast("Mapping[str, Any]", each or {}).items()


def _told(writes: Writes, *, same: Writes) -> Told:
    last = {key: place for place, (key, _) in enumerate(writes)}
    earlier = [{key: value} for place, (key, value) in enumerate(writes) if last[key] != place]
    return Told(update=dict(writes), earlier=earlier, same=dict(same))
