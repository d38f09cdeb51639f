"""What a new branch inherits from the one it was forked from: the calls that were made before.

They are kept under keys of the new branch, so that the door finds them as it finds any other. They cost nothing there,
and have no try: the branch they come from has both.
"""

from __future__ import annotations

from collections.abc import Sequence

from stateward.run.store.database import Database
from stateward.run.store.entry import COLUMNS, CallKey

_NAMES = """
SELECT branch FROM stateward_journal WHERE session = ?
UNION SELECT branch FROM stateward_asks WHERE session = ? AND status <> 'withdrawn'
"""
_TAKEN = {
    "branch": "?", "charges": "'[]'", "overrun": "'{}'", "tokens_in": "0", "tokens_out": "0", "usd": "0", "tries": "0"
}  # fmt: skip
_COPIED = ", ".join(_TAKEN.get(column, column) for column in COLUMNS.split(", "))
_INHERIT = (
    f"INSERT INTO stateward_journal ({COLUMNS}) SELECT {_COPIED} FROM stateward_journal"
    " WHERE session = ? AND run = ? AND branch = ? AND path = ? AND activation = ? AND call = ?"
)


def names_in_use(database: Database, session: str) -> frozenset[str]:
    """Return the branches under which a session has made calls or asked questions.

    Args:
        database: Where its journal is.
        session: The session's id.
    """
    with database.read() as cur:
        cur.execute(_NAMES, (session, session))
        return frozenset(str(row[0]) for row in cur.fetchall())


def inherit(database: Database, calls: Sequence[CallKey], *, branch: str) -> None:
    """Let a new branch know calls of the one it was forked from.

    Args:
        database: Where the journal is.
        calls: The calls of one session, which were completed or have failed.
        branch: The new branch; nothing is known of it yet.
    """
    if not calls:
        return
    with database.transaction(calls[0].session) as cur:
        for key in calls:
            cur.execute(_INHERIT, (branch, *key.values))
