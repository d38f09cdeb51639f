"""`stateward inbox`: the asks that wait for a person."""

from __future__ import annotations

import typer

from stateward.cli import options
from stateward.cli.place import open_existing
from stateward.cli.rendering import age, print_facts, print_json
from stateward.run.store.ask import Ask

_HELP = """List the open asks, the oldest first.

Examples:

  stateward inbox
  stateward inbox --json
  stateward answer ask_0123456789ab approve --by ann
"""


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("inbox", help=_HELP)(_inbox)


def _inbox(db: options.Db = options.DEFAULT_DB, as_json: options.AsJson = False) -> None:
    with open_existing(db) as database:
        asks, now = database.asks.open(), database.clock.now()
    if as_json:
        print_json([ask_json(ask, now=now) for ask in asks])
        return
    if not asks:
        typer.echo("Nobody is asked anything.")
    for place, ask in enumerate(asks):
        typer.echo("\n" if place else "", nl=False)
        print_facts(_facts(ask, now=now))


def _facts(ask: Ask, *, now: float) -> dict[str, object]:
    """Tell all of an ask: who approves must see what is approved."""
    return {
        "ask": ask.id,
        "session": f"{ask.session} in {ask.path}",
        "tool": ask.tool,
        "arguments": ask.arguments,
        "reason": ask.reason,
        "approvers": ask.approvers,
        "age": age(now - ask.created_at),
        "expires": "never" if ask.expires_at is None else f"in {age(ask.expires_at - now)}",
    }


def ask_json(ask: Ask, *, now: float) -> dict[str, object]:
    """Return an ask as the command line's JSON tells it.

    Args:
        ask: The ask.
        now: The time, in seconds since the epoch.
    """
    return {
        "id": ask.id,
        "session": ask.session,
        "state": ask.path,
        "tool": ask.tool,
        "arguments": dict(ask.arguments),
        "reason": ask.reason,
        "approvers": list(ask.approvers),
        "age_s": round(max(now - ask.created_at, 0.0), 3),
        "expires_at": ask.expires_at,
    }
