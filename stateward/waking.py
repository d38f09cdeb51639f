"""Waking sessions that sleep: those with a timer that is due, or with an event that nobody has taken.

A session that waits needs no process. When its time comes somebody has to call it; this is what a driver calls, once a
second or once an hour. `stateward wake` is such a driver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stateward.errors import SessionBusy, StatewardError
from stateward.run.call import is_held
from stateward.run.checkpoint import AFTER
from stateward.run.conversation import OnDrift
from stateward.run.drive import Bridge, Steps, Work, drive_async, drive_sync
from stateward.run.graph import ChartGraph
from stateward.run.seat import seated
from stateward.run.session import Outcome, Session
from stateward.run.store.database import Database
from stateward.run.store.session_row import SessionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Woken:
    """What became of one session."""

    session: str
    outcome: Outcome | None
    """Where it stands; None when it could not be gone on with."""
    error: str = ""
    """Why not, or what an activity raised that ended the run."""


def wake(graph: ChartGraph, database: Database, *, context: Any = None, drift: OnDrift = "refuse") -> list[Woken]:
    """Go on with the sessions of a graph whose time has come, one after the other, the longest overdue first.

    Args:
        graph: The compiled chart. One without a checkpointer is attached to the database.
        database: Where its sessions are.
        context: LangGraph's `context=` for each of them.
        drift: What becomes of a run that began under another policy; as for `Session`.

    Returns:
        What became of them. A session that somebody else runs is left out: who runs it takes what is due.
    """
    return drive_sync(_waking(graph, database, context, drift), bridge=Bridge())


async def awake(
    graph: ChartGraph, database: Database, *, context: Any = None, drift: OnDrift = "refuse"
) -> list[Woken]:
    """Go on with the sessions of a graph whose time has come; see `wake`.

    Args:
        graph: The compiled chart. One without a checkpointer is attached to the database.
        database: Where its sessions are.
        context: LangGraph's `context=` for each of them.
        drift: What becomes of a run that began under another policy; as for `Session`.

    Returns:
        What became of them.
    """
    return await drive_async(_waking(graph, database, context, drift), threads=database.threads)


def sleepers(
    graph: ChartGraph, database: Database, *, context: Any = None, drift: OnDrift = "refuse"
) -> tuple[Session, ...]:
    """Find the sessions of a graph whose time has come and that nobody runs.

    Args:
        graph: The compiled chart.
        database: Where its sessions are.
        context: LangGraph's `context=` for each of them.
        drift: What becomes of a run that began under another policy; as for `Session`.

    Returns:
        The sessions, the longest overdue first; each is called for its own tenant, and is busy (`SessionBusy`) if
        anybody went on with it since it was found.

    Raises:
        DefinitionError: The graph keeps its checkpoints and its tables elsewhere.
    """
    graph, name = seated(graph, database), graph.machine.name
    rows = [database.sessions.get(id) for id in _due(database, name)]
    free = [row for row in rows if database.leases.held(row.id) is None]
    # Whose turn it still is after the look at its fence: who went on with it before that look is seen here.
    due = set(_due(database, name))
    return tuple(_session(row, graph, database, context, drift=drift) for row in free if row.id in due)


def _due(database: Database, graph: str) -> tuple[str, ...]:
    return database.sessions.waking(graph=graph, now=database.clock.now())


def _session(row: SessionRow, graph: ChartGraph, database: Database, context: Any, *, drift: OnDrift) -> Session:
    tenant = {"tenant": row.tenant} if row.tenant else {}
    own = graph.with_config(configurable={**tenant, AFTER: row.fence})
    return Session(row.id, own, database, context=context, drift=drift)


def _waking(graph: ChartGraph, database: Database, context: Any, drift: OnDrift) -> Steps[list[Woken]]:
    found: tuple[Session, ...] = yield Work(fn=_found, args=(graph, database, context, drift))
    woken: list[Woken] = []
    for session in found:
        one = yield from _one(session)
        woken.extend([one] if one is not None else [])
    return woken


def _found(graph: ChartGraph, database: Database, context: Any, drift: OnDrift) -> tuple[Session, ...]:
    return sleepers(graph, database, context=context, drift=drift)


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
