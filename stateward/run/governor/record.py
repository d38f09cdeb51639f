"""The row of a plain agent's session: it is listed, and an operator can revoke something from it."""

from __future__ import annotations

from typing import Literal

from stateward.run.governor.standing import Standing
from stateward.run.store.database import Database


def written(database: Database, standing: Standing, *, status: Literal["running", "waiting", "completed"]) -> None:
    """Write down how the run of an agent is going; blocking.

    Args:
        database: Where.
        standing: Where the agent stands.
        status: How it is going.
    """
    run = {"id": standing.run, "hashes": {"policy": standing.policy}}
    control = {"status": status, "run": run, "at": [standing.path]}
    with database.transaction(standing.session) as cur:
        database.sessions.project(cur, session=standing.session, control=control, checkpoint="")
