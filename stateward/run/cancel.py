"""Cancelling a session from anywhere: another task, thread or process.

Who runs the session is told to stop: at once in this process, through the registry; through an order in the database
elsewhere. Either names the lease it means. When nobody runs the session, because it waits or its holder is dead, it is
ended here, under a lease of our own. So whoever cancels looks again and again, until the run has ended.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END
from langgraph.types import StateSnapshot

from stateward.errors import InputRefused, NotExpected, SessionBusy
from stateward.govern.person import person
from stateward.run.brake import Halt
from stateward.run.call import Opened, close, is_held, record
from stateward.run.called import Called, committed
from stateward.run.caller import Caller
from stateward.run.checkpoint import CHANNEL, TERMINAL, Json
from stateward.run.configurable import pinned, with_invocation
from stateward.run.drive import Bridge, Steps, Work
from stateward.run.edit import any_node, placed
from stateward.run.ending import close_calls, end_delta, withdraw
from stateward.run.invocation import Invocation
from stateward.run.ordering import Orderer, ended
from stateward.run.repair import mending
from stateward.run.snapshot import addressed, control_in, pins_of
from stateward.run.stopped import threaded
from stateward.run.store.database import Database
from stateward.run.store.lease import Lease
from stateward.run.store.orders import cancelling
from stateward.run.store.session_row import SessionRow
from stateward.run.text import checked_text


def cancelled(caller: Caller, *, by: str, reason: str, wait_s: float) -> Steps[None]:
    """Cancel the run of a session, whoever runs it.

    Args:
        caller: The session.
        by: Who cancels.
        reason: Why.
        wait_s: How many seconds to wait, from 0, until who runs it has stopped.

    Returns:
        A generator of work.

    Raises:
        InputRefused: Nobody is said to cancel it.
        UnknownSession: There is no such session.
        NotExpected: It has no run, or its run has ended.
        SessionBusy: Who runs it has not stopped in time; the order stands.
    """
    _refuse_nobody(caller.session, by=by, reason=reason)
    session, database, until = caller.session, caller.database, time.monotonic() + wait_s
    halt, orderer = cancelling(by=by, reason=reason), Orderer(database, "cancelled", by=by, reason=reason)
    run: str | None = None
    yield Work(fn=caller.refuse_stranger)
    while True:
        row: SessionRow = yield Work(fn=database.sessions.get, args=(session,))
        lease: Lease | None = yield Work(fn=database.leases.held, args=(session,))
        if lease is None:
            row = yield Work(fn=database.sessions.get, args=(session,))  # what its holder has left behind
            if run is not None and row.status == "cancelled":
                yield from orderer.forget(session)
                return
            _refuse_ended(row)
            if (yield from _ended_here(caller, halt)):
                return
            continue
        run = run if run is not None else row.run
        over = yield from orderer.tell(lease)
        left_s = until - time.monotonic()
        if left_s <= 0:
            raise not_stopped(session, wait_s, running=running_in(database, session))
        yield ended(over, within_s=left_s)


def _refuse_nobody(session: str, *, by: str, reason: str) -> None:
    checked_text(reason, what=f"the reason why session `{session}` is cancelled")
    if not person(checked_text(by, what=f"who cancels session `{session}`")):
        raise InputRefused(f"Session `{session}` can only be cancelled by somebody", fix="Say who with `by`.")


def _refuse_ended(row: SessionRow) -> None:
    if not row.run:
        raise NotExpected(f"Session `{row.id}` has no run that could be cancelled", fix="Send an input to open one.")
    if row.status in TERMINAL:
        raise NotExpected(
            f"The run of session `{row.id}` has ended: it is {row.status}",
            where=f"run {row.run}",
            fix="There is nothing to cancel; an input opens a new run.",
        )


def _ended_here(caller: Caller, halt: Halt) -> Steps[bool]:
    """End the run of a session that nobody runs; False when somebody has taken it meanwhile."""
    graph, database, session, config = caller.graph, caller.database, caller.session, caller.config
    saver = cast("BaseCheckpointSaver[Any]", graph.checkpointer)
    invocation = Invocation(
        session=session,
        open_database=lambda: database,
        bridge=Bridge(),
        threads=graph.tables.threads,
        serde=saver.serde,
    )
    try:
        yield Work(fn=invocation.acquire, args=("", None))
    except SessionBusy as busy:
        if not is_held(busy, session):
            raise
        return False
    call = Opened(given=None, config=config, invocation=invocation, saver=saver, owns_database=False)
    try:
        snapshot: StateSnapshot = yield from committed(graph, config)
        raw = control_in(snapshot)
        if not raw:
            raise _elsewhere(session)
        if raw["status"] not in TERMINAL:
            yield Work(fn=_close, args=(graph, invocation, raw))
            yield _writing(graph, invocation, config, snapshot, halt)
            yield from record(graph, call)
    finally:
        yield from close(call)
    return raw["status"] not in TERMINAL


def _close(graph: Called, invocation: Invocation, raw: Json) -> None:
    database, session, fence = invocation.database, invocation.session, invocation.fence
    close_calls(database, session, raw, threaded=threaded(graph.machine), fence=fence)
    withdraw(database, session, raw, fence=fence)


def _writing(
    graph: Called, invocation: Invocation, config: RunnableConfig, snapshot: StateSnapshot, halt: Halt
) -> Work:
    values = cast("Mapping[str, Any]", snapshot.values)
    raw: Json = values[CHANNEL]
    # While a run waits, nothing is being called; of one that was cut off nobody knows how far it came.
    fate = "cancelled" if raw["status"] == "waiting" else "lost"
    update = {**mending(values, graph.machine.schema.messages, fate=fate), CHANNEL: end_delta(raw, halt)}
    return graph.writing(
        with_invocation(pinned(addressed(config, snapshot), pins_of(raw)), invocation),
        placed(update, goto=END, node=any_node(graph.machine)),
    )


def _elsewhere(session: str) -> NotExpected:
    return NotExpected(
        f"Session `{session}` has no checkpoint in this database", fix="Cancel it over its own checkpointer."
    )


def running_in(database: Database, session: str) -> tuple[str, ...]:
    """Return what sync code of a session is in threads of this process.

    Args:
        database: Where the session is.
        session: The session's id.
    """
    live = database.registry.find(session)
    return () if live is None else tuple(live.running())


def not_stopped(session: str, wait_s: float, *, running: Sequence[str] = ()) -> SessionBusy:
    """Make the error for a call that did not end in time although it was told to.

    Args:
        session: The session's id.
        wait_s: How long it was waited for.
        running: What sync code of it still runs, as far as that is known.
    """
    still = f"; a thread cannot be stopped, and these still run: {', '.join(running)}" if running else ""
    killable = " A tool with `process=True` is killed instead." if running else ""
    return SessionBusy(
        f"Who runs session `{session}` was told to stop, and has not within {wait_s:g} s{still}",
        fix=f"Wait longer, or end that process: the order stands until its call is over.{killable}",
    )
