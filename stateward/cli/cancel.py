"""`stateward cancel`: the end of a run, whoever runs it; and `stateward drain`: the end of a call after its step."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Annotated, Any

import typer

from stateward.cli import options
from stateward.cli.driving import run_until_stopped
from stateward.cli.place import opened_session
from stateward.cli.rendering import print_facts, print_json, say
from stateward.cli.stop import EXIT_STOPPED, Stop, Stopped
from stateward.run.outcome import Outcome
from stateward.run.session import STOP_WAIT_S

_CANCEL_HELP = """End the run of a session, whoever runs it.

If a process runs it, that one stops at its next await: calls that are
being made are closed, questions taken back. If it waits, or its process is
dead, it is ended here. A cancelled run cannot be resumed; an input opens
a new one.

Examples:

  stateward cancel inbox-001 --reason "sent twice"
  stateward cancel inbox-001 --by ann --wait 5
"""
_DRAIN_HELP = """Let the process that runs a session end its present step and let go.

Nothing is lost: `stateward resume` goes on with it, here or elsewhere.

Examples:

  stateward drain inbox-001
  stateward drain inbox-001 --wait 600 --reason "new release"
"""

Wait = Annotated[float, typer.Option("--wait", metavar="SECONDS", min=0, help="How long to wait until it has stopped.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the records.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands.

    Args:
        app: The application.
    """
    app.command("cancel", help=_CANCEL_HELP)(_cancel)
    app.command("drain", help=_DRAIN_HELP)(_drain)


def _cancel(
    session: options.SessionId,
    reason: Reason = "",
    wait: Wait = STOP_WAIT_S,
    by: options.By = None,
    graph: options.GraphOfSession = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    with opened_session(session, db=db, graph=graph, overrides=overrides) as found:
        outcome = _done(partial(found.acancel, by=options.person(by), reason=reason, wait_s=wait))
        _show(outcome, as_json=as_json)


def _drain(
    session: options.SessionId,
    reason: Reason = "",
    wait: Wait = STOP_WAIT_S,
    by: options.By = None,
    graph: options.GraphOfSession = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    with opened_session(session, db=db, graph=graph, overrides=overrides) as found:
        outcome = _done(partial(found.adrain, by=options.person(by), reason=reason, wait_s=wait))
        _show(outcome, as_json=as_json)
    if outcome.status == "running":
        later = options.again_with(session, overrides=overrides or (), db=db, graph=graph)
        say(f"Nothing is lost; go on with:\n  {later}")


def _done(work: Callable[[], Coroutine[Any, Any, Outcome]]) -> Outcome:
    async def ordering(_: Stop) -> Outcome:
        return await work()

    try:
        return run_until_stopped(ordering)
    except Stopped:
        say("Stopped waiting. The order stands: who runs the session follows it.")
        raise typer.Exit(EXIT_STOPPED) from None


def _show(outcome: Outcome, *, as_json: bool) -> None:
    facts: dict[str, object] = {
        "session": outcome.session,
        "status": outcome.status,
        "state": outcome.path,
        "reason": None if outcome.reason is None else dict(outcome.reason),
    }
    if as_json:
        print_json(facts)
    else:
        print_facts(facts)
