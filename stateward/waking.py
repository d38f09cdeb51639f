"""Waking sessions that sleep: those with a timer that is due, or with an event that nobody has taken.

A session that waits needs no process. When its time comes somebody has to call it; this is what a driver calls, once a
second or once an hour. `stateward wake` is such a driver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stateward.errors import SessionBusy, StatewardError
from stateward.run.call import is_held
from stateward.run.drive import Bridge, Steps, Work, drive_async, drive_sync
from stateward.run.graph import ChartGraph
from stateward.run.session import Outcome, Session
from stateward.run.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Woken:
    """What became of one session."""

    session: str
    outcome: Outcome | None
    """Where it stands; None when it could not be gone on with."""
    error: str = ""
    """Why not, or what an activity raised that ended the run."""


def wake(graph: ChartGraph, database: Database, *, context: Any = None) -> list[Woken]:
    """Go on with the sessions of a graph whose time has come, one after the other, the longest overdue first.

    Args:
        graph: The compiled chart, over the checkpointer it runs with.
        database: Where its sessions are.
        context: LangGraph's `context=` for each of them.

    Returns:
        What became of them. A session that somebody else runs is left out: who runs it takes what is due.
    """
    return drive_sync(_waking(graph, database, context), bridge=Bridge())


async def awake(graph: ChartGraph, database: Database, *, context: Any = None) -> list[Woken]:
    """Go on with the sessions of a graph whose time has come; see `wake`.

    Args:
        graph: The compiled chart, over the checkpointer it runs with.
        database: Where its sessions are.
        context: LangGraph's `context=` for each of them.

    Returns:
        What became of them.
    """
    return await drive_async(_waking(graph, database, context), threads=database.threads)


def sleepers(graph: ChartGraph, database: Database, *, context: Any = None) -> tuple[Session, ...]:
    """Find the sessions of a graph whose time has come and that nobody runs.

    Args:
        graph: The compiled chart.
        database: Where its sessions are.
        context: LangGraph's `context=` for each of them.

    Returns:
        The sessions, the longest overdue first; each is called for its own tenant.
    """
    ids = database.sessions.waking(graph=graph.machine.name, now=database.clock.now())
    return tuple(_session(id, graph, database, context) for id in ids if database.leases.held(id) is None)


def _session(id: str, graph: ChartGraph, database: Database, context: Any) -> Session:
    tenant = database.sessions.get(id).tenant
    own = graph.with_config(configurable={"tenant": tenant}) if tenant else graph
    return Session(id, own, database, context=context)


def _waking(graph: ChartGraph, database: Database, context: Any) -> Steps[list[Woken]]:
    found: tuple[Session, ...] = yield Work(fn=_found, args=(graph, database, context))
    woken: list[Woken] = []
    for session in found:
        one = yield from _one(session)
        woken.extend([one] if one is not None else [])
    return woken


def _found(graph: ChartGraph, database: Database, context: Any) -> tuple[Session, ...]:
    return sleepers(graph, database, context=context)


def _one(session: Session) -> Steps[Woken | None]:
    try:
        yield Work(fn=session.refuse_strange)
        outcome: Outcome = yield Work(fn=session.resume, afn=session.aresume)
    except SessionBusy as busy:
        if is_held(busy, session.id):
            return None
        return (yield from _failed(session, busy))
    except Exception as error:  # noqa: BLE001  # it is told, and does not keep the others asleep
        return (yield from _failed(session, error))
    return Woken(session=session.id, outcome=outcome)


def _failed(session: Session, error: Exception) -> Steps[Woken]:
    """An activity's error has a note, and its run is recorded as failed; any other left the session as it was."""
    told = str(error) if isinstance(error, StatewardError) else f"{type(error).__name__}: {error}"
    outcome: Outcome | None = None
    if hasattr(error, "__notes__"):
        outcome = yield Work(fn=session.outcome)
    return Woken(session=session.id, outcome=outcome, error=told)
