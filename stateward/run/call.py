"""One call of a compiled graph from its opening to its end: lease, admission, records.

Three kinds of calls come in: from outside over a saver (a session, which is leased), from outside without one (nothing
outlives the call), and from inside another graph's node (session, lease and tables are the caller's). Edits of values
take the lease the same way.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.types import Command, StateSnapshot, StateUpdate

from stateward.errors import InputRefused, NotExpected, SessionBusy
from stateward.run.admission import Stored, admit, stored
from stateward.run.arrivals import let_go
from stateward.run.called import Called, checkpoint_id, committed
from stateward.run.channel import ControlChannel
from stateward.run.checkpoint import CHANNEL
from stateward.run.configurable import (
    TURN,
    alarm_of,
    is_nested,
    latest_of,
    named,
    onward,
    person_in,
    pinned,
    seen_fence,
    whole,
    with_invocation,
)
from stateward.run.container import KEY as CONTAINER
from stateward.run.context_record import naming, recorded, serde_of
from stateward.run.drive import Bridge, Steps, Work
from stateward.run.edit import begun, checked_edit, edited
from stateward.run.events.listener import listening
from stateward.run.fork import Turn, take_back, turned, write
from stateward.run.invocation import Invocation, new_id, session_of
from stateward.run.landing import landing
from stateward.run.nested import invocation_inside, opened, saver_in
from stateward.run.nested_drift import same_definition
from stateward.run.plan import Machine
from stateward.run.store.database import open_database
from stateward.run.straggling import outlasted


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An admitted call: what LangGraph gets, and what must be closed."""

    given: object
    config: RunnableConfig
    invocation: Invocation
    saver: BaseCheckpointSaver[Any] | None
    owns_database: bool


def open_call(
    graph: Called, given: object, config: RunnableConfig | None, *, bridge: Bridge, context: object = None
) -> Steps[Opened]:
    """Admit a call.

    Args:
        graph: The graph.
        given: The input, a `Command`, or None.
        config: The caller's config.
        bridge: The way to the event loop of the call.
        context: LangGraph's `context=`, to be recorded.

    Returns:
        A generator of work that returns the admitted call.

    Raises:
        InputRefused: The input does not fit, or the config names no session; nothing was committed.
        SessionBusy: Another run holds the session.
        NotExpected: The chart has no transition for the event now.
        Drift: The run was started by another definition.
    """
    merged = whole(graph.config, config)
    if is_nested(merged):
        return (yield from _nested(graph, given, merged, bridge))
    saver, session = _saver_of(graph.checkpointer), session_of(merged)
    if saver is not None and session is None:
        raise InputRefused(
            "The graph has a checkpointer, but the config names no session",
            fix='Pass config={"configurable": {"thread_id": …}}.',
        )
    invocation = _invocation(graph, merged, saver=saver, session=session, bridge=bridge)
    if saver is not None:
        given, merged = yield from _admitted(graph, given, merged, invocation, context)
    else:
        given = admit(graph.machine, given, before=Stored(control=None, values={}), invocation=invocation)
    try:
        invocation.alarm.start(invocation.brake, loop=bridge.caller)
        return Opened(
            given=given,
            config=with_invocation(pinned(merged, graph.machine.pins) if saver else merged, invocation),
            invocation=invocation,
            saver=saver,
            owns_database=saver is None,
        )
    except BaseException:  # Ctrl-C, when the session is held already
        yield Work(fn=invocation.leave, must_end=True)
        raise


def _invocation(
    graph: Called,
    merged: RunnableConfig,
    *,
    saver: BaseCheckpointSaver[Any] | None,
    session: str | None,
    bridge: Bridge,
) -> Invocation:
    """Make the invocation of a call from outside."""
    return Invocation(
        session=session or new_id("session"),
        open_database=lambda: graph.tables.database(saver) if saver else open_database("memory:"),
        bridge=bridge,
        threads=graph.tables.threads,
        tenant=named(merged, "tenant"),
        approver=person_in(merged, "approver"),
        user=person_in(merged, "user") or person_in(merged, "approver"),
        serde=saver.serde if saver is not None else None,
        shared=saver is not None,
        alarm=alarm_of(merged),
        container=merged.get("configurable", {}).get(CONTAINER),
        listener=listening(merged),
        turn=merged.get("configurable", {}).get(TURN),
    )


def _admitted(
    graph: Called, given: object, config: RunnableConfig, invocation: Invocation, context: object
) -> Steps[tuple[object, RunnableConfig]]:
    """Take the lease and decide what LangGraph gets, and where; refused, the lease is given back."""
    turn: Turn | None = None
    try:
        yield Work(fn=invocation.acquire, args=(graph.name, seen_fence(config)))
        turn = yield from turned(graph, config, invocation)
        snapshot = turn.before if turn is not None else (yield from committed(graph, config))
        before = stored(snapshot, machine=graph.machine)
        given = yield Work(fn=_admit, args=(graph.machine, given, before, invocation))
        if turn is not None:
            yield from write(graph, config, turn, invocation)
            turn, config = None, cast(RunnableConfig, onward(config))
        reopens = _reopens(given)
        if reopens is not None:
            # A run that ended goes on: it says so in a checkpoint before anything else happens.
            reopened = StateUpdate(values=cast("dict[str, Any]", given), as_node=reopens)
            yield graph.writing(with_invocation(pinned(config, graph.machine.pins), invocation), reopened)
            given = None
        config = yield from _naming(graph, context, config, invocation, before=snapshot)
    except BaseException:
        if turn is not None:
            yield Work(fn=take_back, args=(turn, invocation), must_end=True)
        yield Work(fn=invocation.leave, must_end=True)
        raise
    return given, config


def _naming(
    graph: Called, context: object, config: RunnableConfig, invocation: Invocation, *, before: StateSnapshot
) -> Steps[RunnableConfig]:
    """Record the context of a call, for its replay."""
    record = None if context is None else recorded(context, serde=serde_of(graph.allowed, graph.context_schema))
    return (yield from naming(config, record, database=invocation.database, session=invocation.session, before=before))


def _nested(graph: Called, given: object, config: RunnableConfig, bridge: Bridge) -> Steps[Opened]:
    """A call from inside another graph's node: the session, its lease and its tables are the caller's."""
    invocation = invocation_inside(config, tables=graph.tables, bridge=bridge)
    if invocation.parent:
        config = yield from landing(graph, config, invocation)
    yield from same_definition(graph, config, invocation)
    admitted = admit(graph.machine, given, before=Stored(control=None, values={}), invocation=invocation)
    return Opened(
        given=opened(admitted) if invocation.parent else admitted,
        config=with_invocation(config, invocation),
        invocation=invocation,
        saver=None,
        owns_database=False,
    )


def record(graph: Called, call: Opened) -> Steps[None]:
    """Bring our tables up to the last checkpoint of a saver that is not ours; ours does so in its transaction.

    Args:
        graph: The graph.
        call: The call.
    """
    if call.saver is None or graph.tables.attached is not None or session_of(call.config) is None:
        return
    # The saver itself is asked, for a record names a checkpoint that there is: `get_state` would make the nodes of the
    # next step ready, and add what was written of one that was cut off. Nor is the checkpoint meant that the caller
    # named: the call went on from there.
    saver, at = call.saver, latest_of(call.config)
    kept: CheckpointTuple | None = yield Work(fn=saver.get_tuple, afn=saver.aget_tuple, args=(at,))
    if kept is not None:
        control = ControlChannel().from_checkpoint(kept.checkpoint["channel_values"].get(CHANNEL)).get()
        yield Work(fn=_project, args=(call.invocation, control, checkpoint_id(kept.config)))


def close(call: Opened) -> Steps[bool]:
    """Stop the tasks of the call, give back its lease and close what lived only as long as the call.

    Args:
        call: The call.

    Returns:
        A generator of work that returns whether an event was posted after the run had looked for the last time: the
        session waits for somebody to go on with it.
    """
    invocation, more = call.invocation, False
    try:
        invocation.alarm.stop()
        invocation.bridge.reopen()
        if invocation.attention.is_used:
            yield Work(afn=invocation.attention.end)
    finally:
        more = yield from _closed(call)
    return more


def _closed(call: Opened) -> Steps[bool]:
    more = False
    try:
        if call.invocation.lease is not None and call.saver is not None:
            more = yield Work(fn=_given_back, args=(call.invocation,), must_end=True)
    except Exception:
        raise
    except BaseException:  # Ctrl-C, perhaps before that began
        yield Work(fn=call.invocation.abandon, must_end=True)
        raise
    finally:
        if call.owns_database and call.invocation.has_database:  # else `ainvoke` would go through a thread for nothing
            yield Work(fn=call.invocation.close_database, must_end=True)
    return more


def _given_back(invocation: Invocation) -> bool:
    """Give back the lease, or leave that to sync code that still runs; return whether somebody should go on."""
    return not outlasted(invocation) and let_go(invocation)


@contextmanager
def left_to_others(session: str) -> Generator[None]:
    """Let it be when somebody else has taken a session: they take what was posted to it.

    Args:
        session: The session's id.
    """
    try:
        yield
    except SessionBusy as busy:
        if not is_held(busy, session):
            raise


def is_held(busy: SessionBusy, session: str) -> bool:
    """Tell whether a session's own lease stands behind an error, and not one of a session that its activity called.

    Args:
        busy: The error.
        session: The session's id.
    """
    return busy.facts.get("session") == session and not hasattr(busy, "__notes__")


def edit(graph: Called, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]) -> Steps[RunnableConfig]:
    """Edit values under the session's lease, so that no run writes between the look and the edit.

    Args:
        graph: The graph.
        config: Names the session, and the checkpoint when it is not the latest: then a branch begins there.
        supersteps: One update; the node it names has no say. None as its values only goes there.

    Returns:
        A generator of work that returns the config of the new checkpoint.

    Raises:
        InputRefused: A value does not fit the state schema; nothing was written.
        NotExpected: It is not one update of values, or the session has no run.
        SessionBusy: A run holds the session.
    """
    saver = saver_in(config)
    if saver is None:
        return (yield from turn_to(graph, config, supersteps=supersteps))
    # Inside another graph, which owns the session.
    snapshot: StateSnapshot = yield Work(fn=graph.get_state, afn=graph.aget_state, args=(config,))
    if not begun(snapshot):
        raise _nothing_to_edit()
    values = checked_edit(graph.machine, supersteps, before=snapshot, serde=saver.serde)
    inside: RunnableConfig = yield graph.writing(config, edited(graph.machine, values, before=snapshot))
    return inside


def turn_to(
    graph: Called,
    config: RunnableConfig,
    *,
    supersteps: Sequence[Sequence[StateUpdate]],
    name: str | None = None,
    anew: bool = False,
) -> Steps[RunnableConfig]:
    """Let a session go on elsewhere, or with other values, from its next call on.

    Args:
        graph: The graph.
        config: Names the session, and the checkpoint when it is not the latest.
        supersteps: One update of values, or of None.
        name: The name of a new branch; None for the next free one.
        anew: Whether a new branch is begun wherever the checkpoint stands.

    Returns:
        A generator of work that returns the config of the new checkpoint.

    Raises:
        InputRefused: A value does not fit the state schema, or the name is no name; nothing was written.
        NotExpected: It is not one update, the session has no run or no such checkpoint, or the name is in use.
        SessionBusy: A run holds the session.
        Drift: The run was started by another definition.
    """
    standing: StateSnapshot = yield Work(fn=graph.get_state, afn=graph.aget_state, args=(onward(config),))
    if not begun(standing):
        raise _nothing_to_edit()
    saver = _saver_of(graph.checkpointer)
    invocation = Invocation(
        session=str(session_of(config)),
        open_database=lambda: graph.tables.database(saver),
        bridge=Bridge(),
        threads=graph.tables.threads,
    )
    turn: Turn | None = None
    try:
        yield Work(fn=invocation.acquire, args=(graph.name, seen_fence(config)))
        turn = yield from turned(graph, config, invocation, name=name, anew=anew)
        snapshot = turn.before if turn is not None else (yield from committed(graph, config))
        serde = saver.serde if saver is not None else None
        values = checked_edit(graph.machine, supersteps, before=snapshot, serde=serde)
        turn = turn or Turn(snapshot=snapshot, delta={}, branch="")
        written = yield from write(graph, config, turn, invocation, values=values)
    except BaseException:
        if turn is not None:
            yield Work(fn=take_back, args=(turn, invocation), must_end=True)
        yield Work(fn=invocation.leave, must_end=True)
        raise
    yield Work(fn=invocation.leave, must_end=True)
    return written


def _nothing_to_edit() -> NotExpected:
    return NotExpected("The session has no run whose values could be edited", fix="Send an input to open one.")


def raise_failure(invocation: Invocation) -> None:
    """Raise what an activity raised and no transition took; the run is recorded as failed by now.

    Args:
        invocation: The call.

    Raises:
        BaseException: What it was.
    """
    failure = invocation.failure
    if failure is None:
        return
    failure.add_note(f"Stateward: session `{invocation.session}` is recorded as failed.")
    raise failure


def _reopens(given: object) -> str | None:
    """Where a run that ended is to go on, when admission says so; nothing else it returns names a node."""
    goto = cast("Command[Any]", given).goto if isinstance(given, Command) else ()
    return goto if isinstance(goto, str) else None


def _saver_of(checkpointer: object) -> BaseCheckpointSaver[Any] | None:
    """LangGraph also takes a bool there, for subgraphs."""
    return cast("BaseCheckpointSaver[Any]", checkpointer) if isinstance(checkpointer, BaseCheckpointSaver) else None


def _admit(machine: Machine, given: object, before: Stored, invocation: Invocation) -> object:
    return admit(machine, given, before=before, invocation=invocation)


def _project(invocation: Invocation, control: dict[str, Any], checkpoint: str) -> None:
    database = invocation.database
    with database.transaction(invocation.session) as cur:
        database.sessions.project(cur, session=invocation.session, control=control, checkpoint=checkpoint)
