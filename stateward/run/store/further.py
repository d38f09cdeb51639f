"""When further attempts at model calls were begun: the journal keeps them with the call, whose own moment is the first.

To a provider each attempt is a call, so a pace counts them, also after the process that made them is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from stateward.run.store.database import Database
from stateward.run.store.entry import COLUMNS, Entry, from_row

_UNDER_WAY = (
    f"SELECT {COLUMNS} FROM stateward_journal"
    # What a branch inherits has no try there: it was made once, on the branch that it comes from.
    " WHERE session = ? AND kind = 'model' AND tries > 0 AND (ended_at IS NULL OR ended_at > ?)"
)


def further_attempts(database: Database, session: str, *, since: float) -> list[tuple[str, float]]:
    """Read when the attempts at model calls were begun that were not the first ones of their calls; blocking.

    Args:
        database: Where the journal is.
        session: The session's id.
        since: Only those after this time, in seconds since the epoch.

    Returns:
        State path and time of each.
    """
    return database.persist(lambda: _read(database, session, since=since))


def _read(database: Database, session: str, *, since: float) -> list[tuple[str, float]]:
    blobs = database.journal.blobs
    with database.read() as cur:
        cur.execute(_UNDER_WAY, (session, since))
        entries = [from_row(row, cipher=database.cipher) for row in cur.fetchall()]
        wholes = [(entry, blobs.whole(cur, session, entry.result)) for entry in entries]
    return [(entry.key.path, at) for entry, whole in wholes for at in _moments(entry, whole) if at > since]


def _moments(entry: Entry, result: object) -> Iterator[float]:
    for each in replace(entry, result=result).attempts:
        if each.get("number") != 1 and each.get("outcome") in ("ok", "failed"):
            yield float(each.get("at", 0.0))  # an older version did not write it down
    if entry.status == "started" and isinstance(result, Mapping):
        yield float(cast("Mapping[str, Any]", result).get("at", 0.0))  # the one that a crash cut off
