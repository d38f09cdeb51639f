"""Who gave a run its inputs: recorded in the audit log, so that the same person does not approve what comes of it."""

from __future__ import annotations

from stateward.run.store.database import Database

GIVEN = "input"
"""The event of the audit log."""


def record(database: Database, session: str, *, run: str, by: str) -> None:
    """Record who gave an input.

    Args:
        database: Where the audit log is.
        session: The session's id.
        run: The run that it opens, or comes to.
        by: Who gave it; nothing is recorded of nobody.
    """
    if by:
        database.audit.append({"event": GIVEN, "session": session, "run": run, "by": by})


def givers(database: Database, session: str, *, run: str) -> tuple[str, ...]:
    """Return who gave a run its inputs.

    Args:
        database: Where the audit log is.
        session: The session's id.
        run: The run.

    Returns:
        The names, each once, in order; empty when nobody said.
    """
    told = (row.record for row in database.audit.rows(session))
    names = (str(each["by"]) for each in told if each.get("event") == GIVEN and each.get("run") == run)
    return tuple(dict.fromkeys(names))
