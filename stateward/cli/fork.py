"""`stateward fork`: begin a branch of a session at one of its steps."""

from __future__ import annotations

from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.branches import branch_json
from stateward.cli.pairs import json_values
from stateward.cli.place import opened_session
from stateward.cli.rendering import print_json, say
from stateward.cli.step import BranchName, StepWord, step_of, timeline_of

_HELP = """Begin a branch of a session at one of its steps.

The session is on the new branch from now on: `stateward resume` goes on
from the step, `stateward answer` answers what is asked there anew. Calls
made before the step are known, later ones are made again, and what was
spent stays spent. `stateward branches SESSION --switch NAME` goes back.

Examples:

  stateward fork inbox-001 3
  stateward fork inbox-001 3 --update 'text="hello"' --name polite
"""


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("fork", help=_HELP)(_fork)


def _fork(
    session: options.SessionId,
    step: StepWord,
    updates: Annotated[
        list[str] | None,
        typer.Option("--update", metavar="KEY=JSON", help="Another value for a key of the state; may be repeated."),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="The new branch's name.")] = None,
    branch: BranchName = None,
    graph: options.GraphOfSession = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    update = json_values(updates or (), option="--update")
    with opened_session(session, db=db, graph=graph, overrides=overrides) as found:
        made = timeline_of(found, branch=branch).fork(step_of(step), update=update or None, name=name)
    if as_json:
        print_json(branch_json(made))
        return
    say(f"Session {session} is on branch {made.name} now: {made.status} in {', '.join(made.at)}.")
    if made.status == "running":
        say(f"Go on with it:\n  {options.again_with(session, overrides=overrides or (), db=db, graph=graph)}")
