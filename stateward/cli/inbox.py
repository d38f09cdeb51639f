"""`stateward inbox`: the asks that wait for a person."""

from __future__ import annotations

import typer

from stateward.cli import options
from stateward.cli.place import open_existing
from stateward.cli.rendering import age, print_facts, print_json
from stateward.run.store.ask import Ask
from stateward.run.store.kind import CHOOSE, REVIEW, TEXT, told_in

_HELP = """List the open asks, the oldest first.

A branch that a session has left keeps its asks; they are marked with its
name. An answer to one goes on with that branch: answer it with --branch.

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
        branches = {row.id: row.branch for row in database.sessions.list()} if asks else {}
    if as_json:
        print_json([ask_json(ask, now=now, branch=branches.get(ask.session)) for ask in asks])
        return
    if not asks:
        typer.echo("Nobody is asked anything.")
    for place, ask in enumerate(asks):
        typer.echo("\n" if place else "", nl=False)
        print_facts(_facts(ask, now=now, branch=branches.get(ask.session)))


def _facts(ask: Ask, *, now: float, branch: str | None) -> dict[str, object]:
    """Tell all of an ask: who approves must see what is approved."""
    return {
        "ask": ask.id,
        "session": f"{ask.session} in {ask.path}",
        "branch": ask.branch if is_current(ask, branch) else f"{ask.branch} (the session is on {branch})",
        **_asked(ask),
        "approvers": ask.approvers,
        **({"approvals": _approvals(ask)} if ask.approvals > 1 or ask.answers else {}),
        "not by": ask.barred,
        "age": age(now - ask.created_at),
        "expires": "never" if ask.expires_at is None else f"in {age(ask.expires_at - now)}",
    }


def _asked(ask: Ask) -> dict[str, object]:
    """Tell what is asked: about a call, or what an activity wants to know and how that is answered."""
    if not ask.is_question:
        return {"tool": ask.tool, "arguments": ask.arguments, "reason": ask.reason}
    told = told_in(ask.kind, ask.arguments)
    about = {"about": ask.shown} if ask.shown else {}
    call = {"tool": ask.tool} if ask.kind == REVIEW else {}
    return {"asks to": told.pop("kind"), "question": ask.reason, **call, **about, **told, "answer with": _words(ask)}


def _words(ask: Ask) -> list[str]:
    """List what `stateward answer` takes: an option and a text are answered by themselves."""
    own = {CHOOSE: "OPTION", TEXT: "TEXT"}.get(ask.kind)
    if own is None or (own == "TEXT" and "schema" in ask.arguments):
        return list(ask.allowed)
    return [own, *(["approve (the default)"] if "approve" in ask.allowed else [])]


def _approvals(ask: Ask) -> str:
    gave = ", ".join(each.by for each in ask.answers)
    return f"{ask.progress}{f' ({gave})' if gave else ''}"


def is_current(ask: Ask, branch: str | None) -> bool:
    """Tell whether an ask stands on the branch that its session is on.

    Args:
        ask: The ask.
        branch: The branch that its session is on; None for a session without a row: it is part of another graph's.
    """
    return branch in (None, "", ask.branch)


def ask_json(ask: Ask, *, now: float, branch: str | None = None) -> dict[str, object]:
    """Return an ask as the command line's JSON tells it.

    Args:
        ask: The ask.
        now: The time, in seconds since the epoch.
        branch: The branch that its session is on; None for one that nobody knows.
    """
    return {
        "id": ask.id,
        "session": ask.session,
        "branch": ask.branch,
        "current": is_current(ask, branch),
        "state": ask.path,
        "tool": ask.tool,
        "arguments": dict(ask.shown),
        "reason": ask.reason,
        **told_in(ask.kind, ask.arguments),
        "approvers": list(ask.approvers),
        "approvals": ask.approvals,
        "approved_by": [each.by for each in ask.answers],
        "barred": list(ask.barred),
        "age_s": round(max(now - ask.created_at, 0.0), 3),
        "expires_at": ask.expires_at,
    }
