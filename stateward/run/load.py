"""Loading a session: its messages and its state, for whoever wants to read them or to go on elsewhere.

Nothing is changed by it. Histories come well paired: a tool call without an answer right behind it gets one in what is
returned, and is named; what is stored stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.messages import BaseMessage

from stateward.run.called import committed
from stateward.run.checkpoint import TERMINAL
from stateward.run.drive import Bridge, Steps, Work, drive_async, drive_sync
from stateward.run.graph import ChartGraph
from stateward.run.outcome import Outcome, outcome_of
from stateward.run.repair import Dangling, repaired
from stateward.run.seat import seated
from stateward.run.store.database import Database
from stateward.run.store.owner import TENANT


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A session as it was read."""

    outcome: Outcome
    """Where it stands, with the values as they are stored."""
    histories: Mapping[str, tuple[BaseMessage, ...]]
    """State key to messages, every tool call with one answer right behind it."""
    repaired: Mapping[str, tuple[Dangling, ...]]
    """State key to the calls that were not so paired, and what was done; only keys that had such calls."""

    @property
    def messages(self) -> tuple[BaseMessage, ...]:
        """The messages of the one key that holds any, or of the first by name; empty without such a key."""
        return next((self.histories[key] for key in sorted(self.histories)), ())

    @property
    def values(self) -> Mapping[str, Any]:
        """The state's keys, with the histories as they were repaired."""
        return {**self.outcome.values, **{key: list(history) for key, history in self.histories.items()}}


def load_session(database: Database, *, session: str, graph: ChartGraph, tenant: str = "") -> Loaded:
    """Read a session.

    Args:
        database: From `stateward.open`.
        session: The session's id.
        graph: Its graph.
        tenant: Who reads; empty for the host itself.

    Returns:
        Its messages and state; of a session that never began, none.

    Raises:
        UnknownSession: It belongs to another tenant.
        Drift: It stands in a state that the graph does not have.
        DefinitionError: The graph keeps its checkpoints elsewhere.
    """
    return drive_sync(_loading(_named(graph, database, tenant), database, session, tenant), bridge=Bridge())


async def aload_session(database: Database, *, session: str, graph: ChartGraph, tenant: str = "") -> Loaded:
    """Read a session; see `load_session`.

    Args:
        database: From `stateward.open`.
        session: The session's id.
        graph: Its graph.
        tenant: Who reads; empty for the host itself.

    Returns:
        Its messages and state; of a session that never began, none.

    Raises:
        UnknownSession: It belongs to another tenant.
        Drift: It stands in a state that the graph does not have.
        DefinitionError: The graph keeps its checkpoints elsewhere.
    """
    return await drive_async(
        _loading(_named(graph, database, tenant), database, session, tenant), threads=database.threads
    )


def _named(graph: ChartGraph, database: Database, tenant: str) -> ChartGraph:
    """Return the graph over the database, in the name of a tenant."""
    there = seated(graph, database)
    return there.with_config(configurable={TENANT: tenant}) if tenant else there


def _loading(graph: ChartGraph, database: Database, session: str, tenant: str) -> Steps[Loaded]:
    yield Work(fn=partial(database.sessions.refuse_stranger, session, tenant=tenant))
    snapshot = yield from committed(graph, {"configurable": {"thread_id": session}})
    outcome = outcome_of(session, snapshot.values, chart=graph.machine.chart)
    keys = [key for key in graph.machine.schema.messages if outcome.values.get(key)]
    # What an unfinished run has said last may still be called; it is not lost.
    is_open = outcome.status not in TERMINAL
    read = {key: repaired(outcome.values[key], fate="lost", is_open=is_open) for key in keys}
    return Loaded(
        outcome=outcome,
        histories={key: tuple(history) for key, (history, _) in read.items()},
        repaired={key: gaps for key, (_, gaps) in read.items() if gaps},
    )
