"""How a run stands: all that a call is decided by and reserved under, read in one statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stateward.run.store.cursor import Cursor

Place = tuple[str, str]
"""A scope and a unit in it."""

_USED, _LIMIT = 0, 1
_SELECT = (
    f"SELECT scope, unit, spent + reserved, {_USED} FROM stateward_ledger WHERE session = ? AND run = ?"
    f" UNION ALL SELECT scope, unit, value, {_LIMIT} FROM stateward_limits WHERE session = ? AND run = ?"
)
_REVOKED = (
    " UNION ALL SELECT '', '', 0, 2 WHERE EXISTS (SELECT 1 FROM stateward_revocations WHERE session = ?)"
    " OR EXISTS (SELECT 1 FROM stateward_revocations WHERE session = '')"
)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a run stands, in billionths of each unit."""

    used: Mapping[Place, int]
    """Spent and reserved together."""
    limits: Mapping[Place, int]
    """Those that people set for this run, in place of the policy's."""
    is_revoked: bool = False
    """Whether anything was taken back from the session, or from all; what, `Revocations.of` says."""


def read(cur: Cursor, *, session: str, run: str, revoked: bool = False) -> Standing:
    """Read how a run stands; in a transaction it stands so until the transaction ends.

    Args:
        cur: A cursor.
        session: The session's id.
        run: The run's id.
        revoked: Whether to look for revocations too.
    """
    run_twice = (session, run, session, run)
    rows = cur.execute(_SELECT + _REVOKED, (*run_twice, session)) if revoked else cur.execute(_SELECT, run_twice)
    used: dict[Place, int] = {}
    limits: dict[Place, int] = {}
    is_revoked = False
    for scope, unit, amount, kind in rows.fetchall():
        if kind == _USED:
            used[scope, unit] = amount
        elif kind == _LIMIT:
            limits[scope, unit] = amount
        else:
            is_revoked = True
    return Standing(used, limits, is_revoked)
