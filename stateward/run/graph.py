"""The compiled graph: LangGraph's own, with admission before it and a lease around it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs
from langchain_core.runnables.graph import Graph
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot, StateUpdate
from pydantic import BaseModel, TypeAdapter

from stateward.errors import InputRefused, NotExpected
from stateward.run.admission import Stored, admit, stored
from stateward.run.checkpoint import CHANNEL
from stateward.run.configurable import is_nested, named, pinned, seen_fence, with_fence, with_invocation
from stateward.run.drawing import drawable
from stateward.run.drive import Bridge, Steps, Work, drive_async, drive_sync
from stateward.run.edit import begun, edited, is_copy
from stateward.run.invocation import KEY, Invocation, new_id, session_of
from stateward.run.plan import Machine
from stateward.run.store.database import Database, open_database
from stateward.run.tables import Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """An admitted call: what LangGraph gets, and what must be closed."""

    given: object
    config: RunnableConfig
    invocation: Invocation
    saver: BaseCheckpointSaver[Any] | None
    owns_database: bool


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
            InputRefused: The input does not fit; nothing was committed.
            SessionBusy: Another run holds the session.
            NotExpected: The chart has no transition for the event now.
            Drift: The run was started by another definition.
        """
        bridge = Bridge()
        try:
            opened = drive_sync(self._open(input, config, bridge), bridge=bridge)
            try:
                yield from super().stream(opened.given, opened.config, **_durable(self, kwargs))
                drive_sync(self._record(opened), bridge=bridge)
            finally:
                drive_sync(_close(opened), bridge=bridge)
            _raise_failure(opened.invocation)
        finally:
            bridge.close()

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
            InputRefused: The input does not fit; nothing was committed.
            SessionBusy: Another run holds the session.
            NotExpected: The chart has no transition for the event now.
            Drift: The run was started by another definition.
        """
        threads, bridge = self.tables.threads, Bridge(loop=asyncio.get_running_loop())
        opened = await drive_async(self._open(input, config, bridge), threads=threads)
        try:
            # A stream that is left early ends before its lease does: it cancels its tasks and waits for them.
            made = super().astream(opened.given, opened.config, **_durable(self, kwargs))
            async with aclosing(cast("AsyncGenerator[Any, None]", made)) as parts:
                async for part in parts:
                    yield part
            await drive_async(self._record(opened), threads=threads)
        finally:
            bridge.close()
            await asyncio.shield(drive_async(_close(opened), threads=threads))
        _raise_failure(opened.invocation)

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
        if is_copy(supersteps):
            return super().bulk_update_state(config, supersteps)
        steps = self._edit(config, supersteps)
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
        if is_copy(supersteps):
            return await super().abulk_update_state(config, supersteps)
        return await drive_async(self._edit(config, supersteps), threads=self.tables.threads)

    def _edit(self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]) -> Steps[RunnableConfig]:
        """Edit under the session's lease, so that no run writes between the look and the edit."""
        snapshot: StateSnapshot = yield Work(fn=self.get_state, afn=self.aget_state, args=(config,))
        if not begun(snapshot):
            raise NotExpected("The session has no run whose values could be edited", fix="Send an input to open one.")
        saver = _saver_of(cast("object", self.checkpointer))
        invocation = Invocation(
            session=str(session_of(config)),
            open_database=lambda: self.tables.database(saver),
            bridge=Bridge(),
            threads=self.tables.threads,
        )
        try:
            yield Work(fn=invocation.acquire, args=(self.name, None))
            snapshot = yield Work(fn=self.get_state, afn=self.aget_state, args=(config,))
            edit = edited(self.machine, supersteps, before=snapshot)
            written: RunnableConfig = yield self._write(with_fence(config, invocation.fence), edit)
        except BaseException:
            yield Work(fn=invocation.leave, must_end=True)
            raise
        yield Work(fn=invocation.leave, must_end=True)
        return written

    def _write(self, config: RunnableConfig, update: StateUpdate) -> Work:
        """Write a checkpoint of our own making, LangGraph's way."""
        return Work(fn=super().bulk_update_state, afn=super().abulk_update_state, args=(config, [[update]]))

    def committed(self, config: RunnableConfig) -> Steps[StateSnapshot]:
        """Read a session's latest checkpoint, and nothing of a step that a crash cut off before its commit.

        LangGraph's `get_state` adds the writes of such a step, so that a run looks finished whose last checkpoint and
        terminal record do not exist yet.

        Args:
            config: LangGraph's config of the session.

        Returns:
            A generator of work that returns the snapshot.
        """
        snapshot: StateSnapshot = yield Work(fn=self.get_state, afn=self.aget_state, args=(config,))
        if any(task.result is not None for task in snapshot.tasks):
            # Named by its id, a checkpoint is shown as it was stored.
            snapshot = yield Work(fn=self.get_state, afn=self.aget_state, args=(snapshot.config,))
        return snapshot

    def _open(self, given: object, config: RunnableConfig | None, bridge: Bridge) -> Steps[_Opened]:
        merged = ensure_config(merge_configs(self.config, config))
        saver = _saver_of(cast("object", self.checkpointer))
        if is_nested(merged):
            return self._nested(given, merged, bridge)
            yield Work()  # pragma: no cover  # makes this a generator
        session = session_of(merged)
        if saver is not None and session is None:
            raise InputRefused(
                "The graph has a checkpointer, but the config names no session",
                fix='Pass config={"configurable": {"thread_id": …}}.',
            )
        invocation = Invocation(
            session=session or new_id("session"),
            open_database=lambda: self.tables.database(saver) if saver else open_database("memory:"),
            bridge=bridge,
            threads=self.tables.threads,
            tenant=named(merged, "tenant"),
            approver=named(merged, "approver"),
        )
        before = Stored(control=None, values={})
        if saver is not None and session is not None:
            try:
                yield Work(fn=invocation.acquire, args=(self.name, seen_fence(merged)))
                snapshot = yield from self.committed(merged)
                before = stored(snapshot, machine=self.machine)
                given = yield Work(fn=_admit, args=(self.machine, given, before, invocation))
                reopens = _reopens(given)
                if reopens is not None:
                    # A run that ended goes on: it says so in a checkpoint before anything else happens.
                    reopened = StateUpdate(values=cast("dict[str, Any]", given), as_node=reopens)
                    yield self._write(with_invocation(pinned(merged, self.machine.pins), invocation), reopened)
                    given = None
            except BaseException:
                yield Work(fn=invocation.leave, must_end=True)
                raise
        else:
            given = admit(self.machine, given, before=before, invocation=invocation)
        return _Opened(
            given=given,
            config=with_invocation(pinned(merged, self.machine.pins) if saver else merged, invocation),
            invocation=invocation,
            saver=saver,
            owns_database=saver is None,
        )

    def _nested(self, given: object, config: RunnableConfig, bridge: Bridge) -> _Opened:
        """A call from inside another graph's node: the session, its lease and its tables are the caller's."""
        outer: Invocation | None = config.get("configurable", {}).get(KEY)
        session = outer.session if outer else session_of(config) or new_id("session")
        invocation = Invocation(
            session=session,
            open_database=(lambda: outer.database) if outer else (lambda: self.tables.database(None)),
            bridge=bridge,
            threads=self.tables.threads,
            lease=outer.lease if outer else None,
            tenant=outer.tenant if outer else named(config, "tenant"),
            approver=outer.approver if outer else named(config, "approver"),
        )
        admitted = admit(self.machine, given, before=Stored(control=None, values={}), invocation=invocation)
        return _Opened(
            given=admitted,
            config=with_invocation(config, invocation),
            invocation=invocation,
            saver=None,
            owns_database=False,
        )

    def _record(self, opened: _Opened) -> Steps[None]:
        """Bring our tables up to the last checkpoint of a saver that is not ours; ours does so in its transaction."""
        if opened.saver is None or self.tables.attached is not None or session_of(opened.config) is None:
            return
        snapshot = yield Work(fn=self.get_state, afn=self.aget_state, args=(opened.config,))
        values = cast("dict[str, Any]", snapshot.values or {})
        control: dict[str, Any] = values.get(CHANNEL) or {}
        checkpoint = snapshot.config["configurable"].get("checkpoint_id", "")
        yield Work(fn=_project, args=(opened.invocation, control, checkpoint))

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


def _reopens(given: object) -> str | None:
    """Where a run that ended is to go on, when admission says so; nothing else it returns names a node."""
    goto = cast("Command[Any]", given).goto if isinstance(given, Command) else ()
    return goto if isinstance(goto, str) else None


def _saver_of(checkpointer: object) -> BaseCheckpointSaver[Any] | None:
    """LangGraph also takes a bool there, for subgraphs."""
    return cast("BaseCheckpointSaver[Any]", checkpointer) if isinstance(checkpointer, BaseCheckpointSaver) else None


def _durable(graph: ChartGraph, kwargs: dict[str, Any]) -> dict[str, Any]:
    """With our saver each checkpoint is written before the next step begins, unless the caller says otherwise."""
    if graph.tables.attached is None or kwargs.get("durability") is not None:
        return kwargs
    return {**kwargs, "durability": "sync"}


def _admit(machine: Machine, given: object, before: Stored, invocation: Invocation) -> object:
    return admit(machine, given, before=before, invocation=invocation)


def _project(invocation: Invocation, control: dict[str, Any], checkpoint: str) -> None:
    database = invocation.database
    with database.transaction() as cur:
        database.sessions.project(cur, session=invocation.session, control=control, checkpoint=checkpoint)


def _close(opened: _Opened) -> Steps[None]:
    invocation = opened.invocation
    if invocation.lease is not None and opened.saver is not None:
        yield Work(fn=invocation.database.leases.release, args=(invocation.lease,))
    if opened.owns_database:
        yield Work(fn=invocation.close_database)


def _raise_failure(invocation: Invocation) -> None:
    """Raise what an activity raised and no transition took; the run is recorded as failed by now."""
    failure = invocation.failure
    if failure is None:
        return
    failure.add_note(f"Stateward: session `{invocation.session}` is recorded as failed.")
    raise failure
