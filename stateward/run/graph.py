"""The compiled graph: LangGraph's own, with admission before it and a lease around it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.graph import Graph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateUpdate
from pydantic import BaseModel, TypeAdapter

from stateward.run.breakpoint import refuse_breakpoints
from stateward.run.call import Opened, close, edit, left_to_others, open_call, raise_failure, record
from stateward.run.called import checkpoint_id
from stateward.run.configurable import lasting, onward
from stateward.run.deadline import finished
from stateward.run.drawing import drawable
from stateward.run.drive import Bridge, Steps, Work, drive_async, drive_sync
from stateward.run.edit import is_copy
from stateward.run.final import final, is_final
from stateward.run.invocation import ToParent
from stateward.run.mapped import Inward, Outward, mapped
from stateward.run.nested import for_parent, is_node, shared_in, telling
from stateward.run.plan import Machine
from stateward.run.store.database import Database
from stateward.run.tables import Tables


class ChartGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A chart as a LangGraph graph: invoke, stream, checkpoint and draw it as any other.

    It is made by `Chart.compile`. `copy` and `with_config` keep it what it is (DESIGN decision 15).
    """

    machine: Machine
    tables: Tables

    def __init__(
        self,
        *,
        machine: Machine,
        tables: Tables,
        user_schema: type[Any],
        allowed: frozenset[tuple[str, str]] = frozenset(),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.machine = machine
        self.tables = tables
        self.user_schema = user_schema
        self.allowed = allowed

    def attach(self, database: Database) -> ChartGraph:
        """Return this graph over a database: its saver, store and tables.

        Args:
            database: From `stateward.open`.

        Returns:
            A copy; the graph itself stays as it is.
        """
        return self.copy(
            {
                "checkpointer": database.saver.with_allowlist(self.allowed),
                "store": database.store,
                "tables": Tables(url=database.url, attached=database),
            }
        )

    def mapped(self, *, input: Inward, output: Outward) -> Runnable[Any, Any]:
        """Return this graph as a node for a graph with other keys.

        Args:
            input: The chart's key to the parent's, or a function of the parent's state.
            output: The chart's key to the parent's, or a function of the chart's state at its end. By name, a key
                with a reducer is told update by update, so that the parent's reducer counts each once.

        Returns:
            A runnable for `add_node`; streaming, interrupts and `get_state(subgraphs=True)` see the chart inside.

        Raises:
            DefinitionError: A map names a key that the chart's schema does not declare.
        """
        return mapped(self, schema=self.machine.schema, input=input, output=output)

    # -- the call ---------------------------------------------------------------------------------------

    def stream(  # pyright: ignore[reportIncompatibleMethodOverride]  # LangGraph's overloads, passed on as they are
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        """Run the chart and stream, as LangGraph's `stream`.

        Args:
            input: State keys, `Command(resume=…)`, or None to go on with an unfinished run.
            config: LangGraph's config; `thread_id` is the session.
            kwargs: LangGraph's other arguments.

        Returns:
            LangGraph's stream.

        Raises:
            InputRefused: The input does not fit, or there is no such breakpoint; nothing was committed.
            SessionBusy: Another run holds the session.
            NotExpected: The chart has no transition for the event now.
            Drift: The run was started by another definition.
        """
        refuse_breakpoints(self, self.machine, kwargs)
        bridge = Bridge(loops=self.tables.loops)
        try:
            opened = drive_sync(self._opening(input, config, kwargs, bridge=bridge), bridge=bridge)
            try:
                made = super().stream(opened.given, opened.config, **self._running(kwargs, opened))
                with closing(cast("Generator[Any, None, None]", made)) as parts:
                    yield from bridge.hand_on(parts)
                if opened.saver is not None:
                    drive_sync(record(self, opened), bridge=bridge)
            finally:
                more = drive_sync(close(opened), bridge=bridge)
            raise_failure(opened.invocation)
        finally:
            bridge.close()
        if more:
            with left_to_others(opened.invocation.session):
                again = lasting(onward(config), opened.invocation.alarm)
                yield from self.stream(None, again, **kwargs)

    async def astream(  # pyright: ignore[reportIncompatibleMethodOverride]  # as above
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Run the chart and stream, as LangGraph's `astream`.

        Args:
            input: As for `stream`.
            config: As for `stream`.
            kwargs: LangGraph's other arguments.

        Returns:
            LangGraph's stream.

        Raises:
            InputRefused: The input does not fit, or there is no such breakpoint; nothing was committed.
            SessionBusy: Another run holds the session.
            NotExpected: The chart has no transition for the event now.
            Drift: The run was started by another definition.
        """
        refuse_breakpoints(self, self.machine, kwargs)
        threads, bridge = self.tables.threads, Bridge(loop=asyncio.get_running_loop())
        opened = await drive_async(self._opening(input, config, kwargs, bridge=bridge), threads=threads)
        try:
            # A stream that is left early ends before its lease does: it cancels its tasks and waits for them.
            made = super().astream(opened.given, opened.config, **self._running(kwargs, opened))
            async with aclosing(cast("AsyncGenerator[Any, None]", made)) as parts:
                async for part in parts:
                    yield part
            if opened.saver is not None:
                await drive_async(record(self, opened), threads=threads)
        finally:
            bridge.close()
            # Cancelled once more, or by the end of the loop, it still gives the session back before it ends.
            more = await finished(asyncio.ensure_future(drive_async(close(opened), threads=threads)))
        raise_failure(opened.invocation)
        if more:
            with left_to_others(opened.invocation.session):
                later = lasting(onward(config), opened.invocation.alarm)
                again = cast("AsyncGenerator[Any, None]", self.astream(None, later, **kwargs))
                async with aclosing(again) as parts:
                    async for part in parts:
                        yield part

    def invoke(  # pyright: ignore[reportIncompatibleMethodOverride]  # as above
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        """Run the chart, as LangGraph's `invoke`; as a node of another graph it returns what it changed.

        Args:
            input: As for `stream`.
            config: As for `stream`.
            kwargs: LangGraph's other arguments.

        Returns:
            The state; for the graph it is a node of, the update.
        """
        if config is None or not is_node(config, self):
            if is_final(kwargs):
                return final(cast("Any", super().invoke(input, config, version="v2", **kwargs)))
            return super().invoke(input, config, **kwargs)
        parent = ToParent()
        ended: Any = super().invoke(input, telling(config, parent), **kwargs)
        kept = parent.shared if parent.shared is not None else shared_in(self.get_state(config))
        return for_parent(self.machine.schema, given=input, final=ended, shared=kept)

    async def ainvoke(  # pyright: ignore[reportIncompatibleMethodOverride]  # as above
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        """Run the chart, as LangGraph's `ainvoke`; as a node of another graph it returns what it changed.

        Args:
            input: As for `stream`.
            config: As for `stream`.
            kwargs: LangGraph's other arguments.

        Returns:
            The state; for the graph it is a node of, the update.
        """
        if config is None or not is_node(config, self):
            if is_final(kwargs):
                return final(cast("Any", await super().ainvoke(input, config, version="v2", **kwargs)))
            return cast("Any", await super().ainvoke(input, config, **kwargs))
        return (await self.achanged(input, config, **kwargs))[1]

    async def achanged(
        self, input: Any, config: RunnableConfig, **kwargs: Any
    ) -> tuple[Mapping[str, Any], Command[Any]]:
        """Run the chart inside another graph, and tell what it changed.

        Args:
            input: What it is handed of the state around.
            config: LangGraph's config of the node around.
            kwargs: LangGraph's other arguments.

        Returns:
            The state at its end, and the writes for the graph around.
        """
        parent = ToParent()
        ended = cast("Any", await super().ainvoke(input, telling(config, parent), **kwargs))
        kept = parent.shared if parent.shared is not None else shared_in(await self.aget_state(config))
        return ended, for_parent(self.machine.schema, given=input, final=ended, shared=kept)

    def bulk_update_state(self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]) -> RunnableConfig:
        """Edit values of a session, for LangGraph's `update_state`; the chart stays where it stands.

        Args:
            config: Names the session, and the checkpoint when it is not the latest.
            supersteps: One update; the node it names has no say.

        Returns:
            The config of the new checkpoint.

        Raises:
            InputRefused: A value does not fit the state schema; nothing was written.
            NotExpected: It is not one update of values, or the session has no run.
        """
        if is_copy(supersteps) and not checkpoint_id(config):
            return super().bulk_update_state(config, supersteps)
        steps = edit(self, config, supersteps)
        return drive_sync(steps, bridge=Bridge())

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """Edit values of a session, for LangGraph's `aupdate_state`; see `bulk_update_state`.

        Args:
            config: Names the session, and the checkpoint when it is not the latest.
            supersteps: One update; the node it names has no say.

        Returns:
            The config of the new checkpoint.

        Raises:
            InputRefused: A value does not fit the state schema; nothing was written.
            NotExpected: It is not one update of values, or the session has no run.
        """
        if is_copy(supersteps) and not checkpoint_id(config):
            return await super().abulk_update_state(config, supersteps)
        return await drive_async(edit(self, config, supersteps), threads=self.tables.threads)

    def writing(self, config: RunnableConfig, update: StateUpdate) -> Work:
        """Return the work that writes a checkpoint of our own making, LangGraph's way.

        Args:
            config: Where it is written.
            update: What it holds.
        """
        return Work(fn=super().bulk_update_state, afn=super().abulk_update_state, args=(config, [[update]]))

    def _opening(
        self, given: Any, config: RunnableConfig | None, kwargs: Mapping[str, Any], *, bridge: Bridge
    ) -> Steps[Opened]:
        return open_call(self, given, config, bridge=bridge, context=kwargs.get("context"))

    def _running(self, kwargs: dict[str, Any], call: Opened) -> dict[str, Any]:
        """Complete LangGraph's arguments of a call.

        With our saver each checkpoint is written before the next step begins, unless the caller says otherwise; and
        who finds a session's call in the registry can let it end after its step.
        """
        if call.saver is None:
            return kwargs
        more: dict[str, Any] = {"control": call.invocation.controlled_by(kwargs.get("control"))}
        if self.tables.attached is not None and kwargs.get("durability") is None:
            more["durability"] = "sync"
        return {**kwargs, **more}

    # -- what it looks like -----------------------------------------------------------------------------

    def get_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        """Return the drawable chart, superstates as boxes.

        Args:
            config: Unused; LangGraph's signature.
            xray: Unused; superstates are always drawn open.
        """
        return drawable(self.machine)

    async def aget_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        """Return the drawable chart, superstates as boxes.

        Args:
            config: Unused; LangGraph's signature.
            xray: Unused; superstates are always drawn open.
        """
        return drawable(self.machine)

    def get_input_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """Return the JSON schema of the input: the user's state schema, without the control channel.

        Args:
            config: Unused; LangGraph's signature.
        """
        schema = self.user_schema
        if issubclass(schema, BaseModel):
            return schema.model_json_schema()
        return TypeAdapter(schema).json_schema()
