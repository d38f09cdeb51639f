"""`stateward sessions`: what is in the database."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from stateward.cli import options
from stateward.cli.place import open_existing
from stateward.cli.rendering import age, money, print_json, print_table
from stateward.cli.standing import standings
from stateward.run.pinned_policy import pins_under
from stateward.run.store.session_row import SessionRow

_HELP = """List the sessions, the oldest first.

A session is stalled when it is running and no living process holds it:
`stateward resume` takes it up. One that wakes has a timer: `stateward wake`
goes on with it when that is due.

Examples:

  stateward sessions
  stateward sessions --status waiting
  stateward sessions --policy c1dc0f3a
  stateward sessions --json
"""

Status = Literal["running", "waiting", "completed", "halted", "failed", "cancelled"]


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("sessions", help=_HELP)(_sessions)


def _sessions(
    status: Annotated[Status | None, typer.Option("--status", help="Only those with this status.")] = None,
    policy: Annotated[
        str | None,
        typer.Option("--policy", metavar="HASH", help="Only those whose run is under it: the beginning of a hash."),
    ] = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    with open_existing(db) as database:
        # A row without a run is a lease from before the first checkpoint: there is no session yet.
        found = [row for row in database.sessions.list(status=status) if row.run]
        if policy is not None:
            pins = pins_under(database, policy)
            found = [row for row in found if row.policy_hash.startswith(policy.lower()) or row.policy_hash in pins]
        now = database.clock.now()
        states = standings([] if as_json else found, database=database)
    if as_json:
        print_json([session_json(row) for row in found])
        return
    rows = [
        {
            "id": row.id,
            "graph": row.graph,
            "status": "running (stalled)" if row.stalled else row.status,
            "state": states[row.id],
            "turns": row.turns,
            "tokens": row.tokens,
            "usd": money(row.usd),
            "wakes": _wakes(row, now=now),
            "updated": f"{age(now - row.updated_at)} ago",
        }
        for row in found
    ]
    print_table(rows, empty="No sessions.")


def _wakes(row: SessionRow, *, now: float) -> str:
    if row.wakes_at is None:
        return ""
    return "now" if row.wakes_at <= now else f"in {age(row.wakes_at - now)}"


def session_json(row: SessionRow) -> dict[str, object]:
    """Return a session as the command line's JSON tells it.

    Args:
        row: Its row.
    """
    return {
        "id": row.id,
        "graph": row.graph,
        "tenant": row.tenant,
        "status": row.status,
        "stalled": row.stalled,
        "path": list(row.path),
        "run": row.run,
        "run_no": row.run_no,
        "turns": row.turns,
        "tokens": row.tokens,
        "usd": row.usd,
        "reason": row.reason,
        "wakes_at": row.wakes_at,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "mode": row.mode,
        "hashes": {"chart": row.chart_hash, "policy": row.policy_hash, "schema": row.schema_hash},
    }
