"""The states that a session stands in, as people read them: one that waits for an answer has `.ask` behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from stateward.run.store.ask import Ask
from stateward.run.store.database import Database
from stateward.run.store.session_row import SessionRow

WAITING = "waiting"


def standing(path: Iterable[str], *, status: str, asks: Iterable[Ask]) -> str:
    """Write down where a session stands, as `stateward run` does.

    Args:
        path: The active states.
        status: Its status word; only who waits is told as waiting for somebody.
        asks: What people are asked. An agent inside a state asks for that state.
    """
    asking = {ask.path.partition("/")[0] for ask in asks} if status == WAITING else set[str]()
    return ", ".join(f"{state}.ask" if state in asking else state for state in path)


def standings(rows: Sequence[SessionRow], *, database: Database) -> Mapping[str, str]:
    """Write down where several sessions stand.

    Args:
        rows: Their rows.
        database: Where their open asks are.

    Returns:
        By session; what is asked on a branch that a session has left does not count.
    """
    asks: dict[tuple[str, str], list[Ask]] = {}
    if any(row.status == WAITING for row in rows):
        for ask in database.asks.open(rows[0].id if len(rows) == 1 else None):
            asks.setdefault((ask.session, ask.branch), []).append(ask)
    return {row.id: standing(row.path, status=row.status, asks=asks.get((row.id, row.branch), ())) for row in rows}
