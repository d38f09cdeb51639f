"""`stateward answer`: one ask, answered once, and its session goes on in this process."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from stateward.cli import inbox_branch, options
from stateward.cli.driving import drive_alone
from stateward.cli.outcome import show_outcome
from stateward.cli.place import find_session, open_existing
from stateward.cli.rendering import print_facts, print_json, say
from stateward.cli.stop import EXIT_STOPPED, Stopped
from stateward.errors import SessionBusy
from stateward.run.session import Session
from stateward.run.store.ask import Ask
from stateward.run.store.database import Database

_HELP = """Answer an ask, and go on with its session.

The session goes on in this process as soon as none of its asks is open.
An ask is answered once, whatever the number of processes: a second answer
is refused with exit code 2 and told who answered when.

Examples:

  stateward answer ask_0123456789ab approve --by ann
  stateward answer ask_0123456789ab reject --note "no proof of payment"
  stateward answer ask_0123456789ab approve --no-resume
  stateward answer ask_0123456789ab approve --drift keep
  stateward answer ask_0123456789ab approve --branch main
"""


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("answer", help=_HELP)(_answer)


def _answer(
    ask: Annotated[str, typer.Argument(metavar="ASK", help="Its id, from `stateward inbox`.", show_default=False)],
    decision: Annotated[Literal["approve", "reject"], typer.Argument(metavar="approve|reject", show_default=False)],
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why; the agent and the audit log see it.")] = "",
    by: options.By = None,
    resume: Annotated[bool, typer.Option("--resume/--no-resume", help="Go on with the session.")] = True,
    branch: inbox_branch.Branch = None,
    drift: options.Drift = "refuse",
    graph: options.GraphOfSession = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    with open_existing(db) as database:
        found = database.asks.get(ask)
        # The graph is found, and asked, before anything is recorded: an answer must not be kept and then lead nowhere.
        going_on = resume and found.status == "open"
        session = (
            find_session(found.session, database=database, graph=graph, overrides=overrides or (), drift=drift)
            if going_on
            else None
        )
        if session is not None:
            inbox_branch.expect(session, found, branch)
        answered = database.asks.answer(ask, decision=decision, by=options.person(by), note=note)
        beside = [other for other in database.asks.open(found.session) if inbox_branch.is_beside(other, found)]
        if session is None or beside:
            _show(answered, database=database, as_json=as_json)
            return
        later = options.again_with(session.id, overrides=overrides or (), db=db, graph=graph, drift=drift)
        raise typer.Exit(_go_on(session, answered, later=later, as_json=as_json))


def _go_on(session: Session, answered: Ask, *, later: str, as_json: bool) -> int:
    try:
        inbox_branch.turn(session, answered)
        return show_outcome(drive_alone(session, None), as_json=as_json)
    except Stopped:
        say(f"Stopped. The answer is recorded; go on with:\n  {later}")
        return EXIT_STOPPED
    except SessionBusy as busy:
        say(f"The answer is recorded, but the session is busy: {busy.what}. Go on later with:\n  {later}")
        return 1


def _show(answered: Ask, *, database: Database, as_json: bool) -> None:
    facts: dict[str, object] = {
        "session": answered.session,
        "status": database.sessions.get(answered.session).status,
        "ask": answered.id,
        "decision": answered.decision,
        "by": answered.by,
        "asks": [other.id for other in database.asks.open(answered.session)],
    }
    if as_json:
        print_json(facts)
    else:
        print_facts(facts)
