"""A compiled chart as a node of somebody's LangGraph graph.

LangGraph takes what a subgraph returns as the update of the node it stands in. A subgraph that returns its whole state
adds what the parent already has to the parent's additive channels a second time (HAZARDS 16). A chart that is a node
therefore returns what it changed: the updates of keys with a reducer one by one, messages that are new or gone, other
keys when they differ. Called from inside a node's own function it returns its state, as any graph does.

The updates of reduced keys are kept in the control channel of the nested run (`shared`), so that they are still known
when the run waited and was resumed in another process. They hold what the user's channels hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from langchain_core.messages import BaseMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command, StateSnapshot

from stateward.run.alarm import Alarm
from stateward.run.checkpoint import CHANNEL
from stateward.run.configurable import named
from stateward.run.door.calling import around
from stateward.run.drive import Bridge
from stateward.run.invocation import KEY, Invocation, ToParent, new_id, session_of
from stateward.run.mapped import Renaming
from stateward.run.same import same
from stateward.run.state import StateSchema
from stateward.run.store.database import open_database
from stateward.run.tables import Tables
from stateward.run.update import as_update

PARENT = "__stateward_parent"
"""The configurable key under which a nested call finds what it is to tell its parent."""
SHARED = "shared"
"""The key of the control channel that keeps the updates of reduced keys."""
_CALL = "__pregel_call"
CHECKPOINTER = "__pregel_checkpointer"
"""LangGraph's names for what it hands a task: whose call this is, where checkpoints go. Without the first a call counts
as one from a function, which is what it is everywhere else."""


def is_node(config: RunnableConfig, graph: object) -> bool:
    """Whether a graph is called because it is itself the node, and not by the code of one.

    Args:
        config: The call's config.
        graph: The graph that is called.
    """
    call = config.get("configurable", {}).get(_CALL)
    task = call.args[0]() if isinstance(call, partial) and call.args else None
    steps: Sequence[object] = getattr(getattr(task, "proc", None), "steps", ())
    # LangGraph lays the steps of a sequence out flat and puts its own, which write to the channels, behind them.
    place = next((place for place, step in enumerate(steps) if step is graph), len(steps))
    following = next(iter(steps[place + 1 :]), None)
    return isinstance(following, Renaming) or type(following).__module__.startswith("langgraph.")


def saver_in(config: RunnableConfig) -> BaseCheckpointSaver[Any] | None:
    """Return the checkpointer of the graph around a nested call, or None.

    Args:
        config: The call's config.
    """
    saver: object = config.get("configurable", {}).get(CHECKPOINTER)
    return cast("BaseCheckpointSaver[Any]", saver) if isinstance(saver, BaseCheckpointSaver) else None


def telling(config: RunnableConfig, parent: ToParent) -> RunnableConfig:
    """Let a nested call find what it is to tell its parent.

    Args:
        config: The call's config.
        parent: Where its nodes note it.
    """
    return {**config, "configurable": {**config.get("configurable", {}), PARENT: parent}}


def invocation_inside(config: RunnableConfig, *, tables: Tables, bridge: Bridge) -> Invocation:
    """Make the invocation of a call from inside another graph's node: session, lease and tables are the caller's.

    Args:
        config: The call's config.
        tables: The called graph's own, for a caller that is no chart.
        bridge: The way to the event loop.
    """
    configurable = config.get("configurable", {})
    saver = saver_in(config)
    serde = saver.serde if saver is not None else None
    outer: Invocation | None = configurable.get(KEY)
    parent: ToParent | None = configurable.get(PARENT)
    if parent is not None and parent.taken:
        parent = None  # it is for the call around this one
    if parent is not None:
        parent.taken = True
    if outer is not None:
        return Invocation(
            session=outer.session,
            open_database=lambda: outer.database,
            bridge=bridge,
            threads=tables.threads,
            lease=outer.lease,
            serde=serde,
            alarm=Alarm(None, until=outer.alarm.until),
            container=outer.container,
            tenant=outer.tenant,
            approver=outer.approver,
            stragglers=outer.stragglers,
            shared_traffic=outer.traffic,
            parent=parent,
            listener=None if outer.listener is None else outer.listener.inside(_around()),
        )
    return Invocation(
        session=session_of(config) or new_id("session"),
        open_database=lambda: tables.database(saver) if saver else open_database("memory:"),
        bridge=bridge,
        threads=tables.threads,
        serde=serde,
        tenant=named(config, "tenant"),
        approver=named(config, "approver"),
        user=named(config, "user") or named(config, "approver"),
        parent=parent,
    )


def _around() -> str:
    """Return the state or agent that a graph inside is called from; empty when it is itself the node."""
    calling = around()
    return "" if calling is None else calling.door.activation.path


def opened(given: object) -> object:
    """Let a nested run begin with nothing to tell, also when its last one is in the same checkpoints.

    Args:
        given: What admission made of the input.
    """
    if not isinstance(given, Mapping):
        return given
    values = cast("Mapping[str, Any]", given)
    return {**values, CHANNEL: {**values[CHANNEL], SHARED: {}}}


def note(command: Command[Any], *, schema: StateSchema, values: Mapping[str, Any], parent: ToParent) -> None:
    """Note the updates of reduced keys that a step of a nested run commits.

    Args:
        command: The step; the note is added to its control delta.
        schema: The chart's channels.
        values: The values the step began with.
        parent: Who is to be told.
    """
    keys = schema.reducing - schema.messages
    update: Any = command.update
    writes = list(cast("Mapping[str, Any]", update).items()) if isinstance(update, Mapping) else _pairs(update)
    control: Mapping[str, Any] = values.get(CHANNEL) or {}
    before: Mapping[str, Sequence[Any]] = control.get(SHARED) or {}
    after = {key: list(told) for key, told in before.items()}
    for key, value in writes:
        if key in keys:
            after.setdefault(key, []).append(value)
    parent.shared = after
    for key, delta in writes:
        if key == CHANNEL and after != before:
            cast("dict[str, Any]", delta)[SHARED] = after


def _pairs(update: object) -> list[tuple[str, Any]]:
    return cast("list[tuple[str, Any]]", update or [])


def shared_in(snapshot: StateSnapshot) -> Mapping[str, Sequence[Any]]:
    """Return what a nested run had to tell that a crash cut off after its end and before its parent's commit.

    Args:
        snapshot: Its last checkpoint.
    """
    values = cast("dict[str, Any]", snapshot.values or {})
    return cast("dict[str, Any]", values.get(CHANNEL) or {}).get(SHARED) or {}


def for_parent(
    schema: StateSchema, *, given: object, final: Mapping[str, Any], shared: Mapping[str, Sequence[Any]]
) -> Command[Any]:
    """Make the update that a nested run is for the graph around it.

    Args:
        schema: The chart's channels.
        given: What the parent handed in: its own values of the shared keys.
        final: The chart's values at its end.
        shared: The updates of its reduced keys.

    Returns:
        The writes, in order.
    """
    had: Mapping[str, Any] = as_update(given, where="the input")
    writes: list[tuple[str, Any]] = []
    for key, value in final.items():
        if key in schema.messages:
            changed = _changed(had.get(key) or [], value)
            writes.extend([(key, changed)] if changed else [])
        elif key in schema.reducing:
            writes.extend((key, told) for told in shared.get(key, ()))
        elif key not in had or not same(had[key], value):
            writes.append((key, value))
    return Command(update=writes)


def _changed(before: Sequence[Any], after: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Messages that are new or other than before, and removals of those that are gone."""
    known = {message.id: message for message in before if isinstance(message, BaseMessage)}
    kept = {message.id for message in after}
    gone = [RemoveMessage(id=id) for id in known if id is not None and id not in kept]
    return [*gone, *(message for message in after if known.get(message.id) != message)]
