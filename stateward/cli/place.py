"""Opening the database a command works on, and finding a session's graph in it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import cast

from stateward.cli.loading import MANIFEST, is_known, load
from stateward.errors import CheckpointError, DefinitionError
from stateward.migration import keep
from stateward.opening import open_database
from stateward.run.conversation import OnDrift, refuse_strange_drift
from stateward.run.session import Session
from stateward.run.store.backend import MEMORY, SERVERS, without_secrets
from stateward.run.store.database import Database
from stateward.run.store.existing import is_there


def open_existing(url: str) -> Database:
    """Open a database that must be there: asking about sessions makes no file and no tables.

    Args:
        url: From `--db`.

    Returns:
        The database.

    Raises:
        CheckpointError: Nothing was ever run in it, or it cannot be opened.
    """
    if url == MEMORY:
        raise CheckpointError(
            "A database in memory ends with the command that made it",
            where=f"`{url}`",
            fix="Name with `--db` the database that the sessions were run in.",
        )
    if not is_there(url):
        raise CheckpointError(
            "There is no database yet",
            where=f"`{without_secrets(url) if url.startswith(SERVERS) else url}`",
            fix="Run something first, or name another with `--db`.",
        )
    return open_database(url)


@contextmanager
def opened_session(
    session: str, *, db: str, graph: str | None, overrides: Sequence[str] | None, drift: str = "refuse"
) -> Generator[Session]:
    """Open the database that a session must be in, and load its graph.

    Args:
        session: Its id.
        db: From `--db`.
        graph: From `--graph`.
        overrides: From `--set`.
        drift: From `--drift`.

    Returns:
        A context with the session; at its end the database is closed.

    Raises:
        CheckpointError: Nothing was ever run in the database, or it cannot be opened.
        UnknownSession: No session has this id.
        DefinitionError: Its graph cannot be found.
        Drift: The policies of its run are to be kept, and cannot be.
    """
    with open_existing(db) as database:
        yield find_session(session, database=database, graph=graph, overrides=overrides or (), drift=drift)


def find_session(
    session: str,
    *,
    database: Database,
    graph: str | None = None,
    overrides: Sequence[str] = (),
    drift: str = "refuse",
) -> Session:
    """Find a session and load its graph.

    Args:
        session: Its id.
        database: Where it is.
        graph: The graph's word, when it is not the name in the session's row.
        overrides: The overrides its run was started with.
        drift: From `--drift`: with `keep` the graph is under the policies of the session's run.

    Returns:
        The session, ready to be driven.

    Raises:
        UnknownSession: No session has this id.
        DefinitionError: Its graph cannot be found.
        InputRefused: There is no such word for `drift`.
        Drift: The policies of its run are to be kept, and cannot be.
    """
    row = database.sessions.get(session)
    if graph is None and not is_known(row.graph):
        raise DefinitionError(
            f"Session `{session}` belongs to graph `{row.graph}`, which no `{MANIFEST}` from here upward names",
            fix="Name it with `--graph module:attribute`.",
        )
    loaded = load(graph or row.graph, overrides=overrides)
    if loaded.graph.machine.name != row.graph:
        raise DefinitionError(
            f"Session `{session}` belongs to graph `{row.graph}`, not to `{loaded.graph.machine.name}`",
            fix="Name its own graph with `--graph`.",
        )
    found = Session(session, loaded.graph.attach(database), database, drift=checked_drift(drift))
    return keep(found) if drift == "keep" else found


def checked_drift(drift: str) -> OnDrift:
    """Return the word of `--drift`.

    Args:
        drift: As it was given.

    Raises:
        InputRefused: There is no such word.
    """
    refuse_strange_drift(drift)
    return cast("OnDrift", drift)
