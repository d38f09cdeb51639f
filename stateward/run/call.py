"""One call of a compiled graph from its opening to its end: lease, admission, records.

Three kinds of calls come in: from outside over a saver (a session, which is leased), from outside without one (nothing
outlives the call), and from inside another graph's node (session, lease and tables are the caller's). Edits of values
take the lease the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command, StateSnapshot, StateUpdate

from stateward.errors import InputRefused, NotExpected, SessionBusy
from stateward.run.admission import Stored, admit, stored
from stateward.run.arrivals import let_go
from stateward.run.checkpoint import CHANNEL
from stateward.run.configurable import is_nested, named, pinned, seen_fence, with_fence, with_invocation
from stateward.run.drive import Bridge, Steps, Work
from stateward.run.edit import any_node, begun, edited
from stateward.run.invocation import Invocation, new_id, session_of
from stateward.run.nested import at_latest, invocation_inside, landed, landing, opened, saver_in
from stateward.run.plan import Machine
from stateward.run.store.database import open_database
from stateward.run.tables import Tables


class Called(Protocol):
    """What a call needs of the graph it is made to."""

    machine: Machine
    tables: Tables
    name: str
    config: RunnableConfig | None
    checkpointer: Any  # a saver, or LangGraph's bool for subgraphs
    get_state: Callable[..., StateSnapshot]
    aget_state: Callable[..., Any]

    def writing(self, config: RunnableConfig, update: StateUpdate) -> Work:
        """Return the work that writes a checkpoint of our own making, LangGraph's way."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An admitted call: what LangGraph gets, and what must be closed."""

    given: object
    config: RunnableConfig
    invocation: Invocation
    saver: BaseCheckpointSaver[Any] | None
    owns_database: bool


def open_call(graph: Called, given: object, config: RunnableConfig | None, *, bridge: Bridge) -> Steps[Opened]:
    """Admit a call.

    Args:
        graph: The graph.
        given: The input, a `Command`, or None.
        config: The caller's config.
        bridge: The way to the event loop of the call.

    Returns:
        A generator of work that returns the admitted call.

    Raises:
        InputRefused: The input does not fit, or the config names no session; nothing was committed.
        SessionBusy: Another run holds the session.
        NotExpected: The chart has no transition for the event now.
        Drift: The run was started by another definition.
    """
    merged = ensure_config(merge_configs(graph.config, config))
    if is_nested(merged):
        return (yield from _nested(graph, given, merged, bridge))
    saver, session = _saver_of(graph.checkpointer), session_of(merged)
    if saver is not None and session is None:
        raise InputRefused(
            "The graph has a checkpointer, but the config names no session",
            fix='Pass config={"configurable": {"thread_id": …}}.',
        )
    invocation = Invocation(
        session=session or new_id("session"),
        open_database=lambda: graph.tables.database(saver) if saver else open_database("memory:"),
        bridge=bridge,
        threads=graph.tables.threads,
        tenant=named(merged, "tenant"),
        approver=named(merged, "approver"),
        shared=saver is not None,
    )
    if saver is not None:
        given = yield from _admitted(graph, given, merged, invocation)
    else:
        given = admit(graph.machine, given, before=Stored(control=None, values={}), invocation=invocation)
    return Opened(
        given=given,
        config=with_invocation(pinned(merged, graph.machine.pins) if saver else merged, invocation),
        invocation=invocation,
        saver=saver,
        owns_database=saver is None,
    )


def _admitted(graph: Called, given: object, config: RunnableConfig, invocation: Invocation) -> Steps[object]:
    """Take the lease and decide what LangGraph gets; refused, the lease is given back."""
    try:
        yield Work(fn=invocation.acquire, args=(graph.name, seen_fence(config)))
        snapshot = yield from committed(graph, config)
        before = stored(snapshot, machine=graph.machine)
        given = yield Work(fn=_admit, args=(graph.machine, given, before, invocation))
        reopens = _reopens(given)
        if reopens is not None:
            # A run that ended goes on: it says so in a checkpoint before anything else happens.
            reopened = StateUpdate(values=cast("dict[str, Any]", given), as_node=reopens)
            yield graph.writing(with_invocation(pinned(config, graph.machine.pins), invocation), reopened)
            given = None
    except BaseException:
        yield Work(fn=invocation.leave, must_end=True)
        raise
    return given


def _nested(graph: Called, given: object, config: RunnableConfig, bridge: Bridge) -> Steps[Opened]:
    """A call from inside another graph's node: the session, its lease and its tables are the caller's."""
    invocation = invocation_inside(config, tables=graph.tables, bridge=bridge)
    there = landing(config) if invocation.parent else None
    if there is not None:
        snapshot: StateSnapshot = yield Work(fn=graph.get_state, afn=graph.aget_state, args=(there,))
        if begun(snapshot):
            yield graph.writing(config, landed(snapshot, node=any_node(graph.machine)))
            config = at_latest(config)
    admitted = admit(graph.machine, given, before=Stored(control=None, values={}), invocation=invocation)
    return Opened(
        given=opened(admitted) if invocation.parent else admitted,
        config=with_invocation(config, invocation),
        invocation=invocation,
        saver=None,
        owns_database=False,
    )


def committed(graph: Called, config: RunnableConfig) -> Steps[StateSnapshot]:
    """Read a session's latest checkpoint, and nothing of a step that a crash cut off before its commit.

    LangGraph's `get_state` adds the writes of such a step, so that a run looks finished whose last checkpoint and
    terminal record do not exist yet.

    Args:
        graph: The graph.
        config: LangGraph's config of the session.

    Returns:
        A generator of work that returns the snapshot.
    """
    snapshot: StateSnapshot = yield Work(fn=graph.get_state, afn=graph.aget_state, args=(config,))
    if any(task.result is not None for task in snapshot.tasks):
        # Named by its id, a checkpoint is shown as it was stored.
        snapshot = yield Work(fn=graph.get_state, afn=graph.aget_state, args=(snapshot.config,))
    return snapshot


def record(graph: Called, call: Opened) -> Steps[None]:
    """Bring our tables up to the last checkpoint of a saver that is not ours; ours does so in its transaction.

    Args:
        graph: The graph.
        call: The call.
    """
    if call.saver is None or graph.tables.attached is not None or session_of(call.config) is None:
        return
    snapshot: StateSnapshot = yield Work(fn=graph.get_state, afn=graph.aget_state, args=(call.config,))
    values = cast("dict[str, Any]", snapshot.values or {})
    control: dict[str, Any] = values.get(CHANNEL) or {}
    checkpoint = snapshot.config.get("configurable", {}).get("checkpoint_id", "")
    yield Work(fn=_project, args=(call.invocation, control, checkpoint))


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
        if invocation.attention.is_used:
            yield Work(afn=invocation.attention.end)
    finally:
        more = yield from _closed(call)
    return more


def _closed(call: Opened) -> Steps[bool]:
    invocation, more = call.invocation, False
    if invocation.lease is not None and call.saver is not None:
        more = yield Work(fn=let_go, args=(invocation,))
    if call.owns_database:
        yield Work(fn=invocation.close_database)
    return more


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
        config: Names the session, and the checkpoint when it is not the latest.
        supersteps: One update; the node it names has no say.

    Returns:
        A generator of work that returns the config of the new checkpoint.

    Raises:
        InputRefused: A value does not fit the state schema; nothing was written.
        NotExpected: It is not one update of values, or the session has no run.
        SessionBusy: A run holds the session.
    """
    snapshot: StateSnapshot = yield Work(fn=graph.get_state, afn=graph.aget_state, args=(config,))
    if not begun(snapshot):
        raise NotExpected("The session has no run whose values could be edited", fix="Send an input to open one.")
    if saver_in(config) is not None:  # inside another graph, which owns the session
        inside: RunnableConfig = yield graph.writing(config, edited(graph.machine, supersteps, before=snapshot))
        return inside
    saver = _saver_of(graph.checkpointer)
    invocation = Invocation(
        session=str(session_of(config)),
        open_database=lambda: graph.tables.database(saver),
        bridge=Bridge(),
        threads=graph.tables.threads,
    )
    try:
        yield Work(fn=invocation.acquire, args=(graph.name, None))
        snapshot = yield Work(fn=graph.get_state, afn=graph.aget_state, args=(config,))
        update = edited(graph.machine, supersteps, before=snapshot)
        written: RunnableConfig = yield graph.writing(with_fence(config, invocation.fence), update)
    except BaseException:
        yield Work(fn=invocation.leave, must_end=True)
        raise
    yield Work(fn=invocation.leave, must_end=True)
    return written


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
    with database.transaction() as cur:
        database.sessions.project(cur, session=invocation.session, control=control, checkpoint=checkpoint)
