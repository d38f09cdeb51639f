"""`stateward fork`: begin a branch of a session at one of its steps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from stateward.cli import options
from stateward.cli.branches import branch_json
from stateward.cli.diff import StepWord
from stateward.cli.history import SessionId
from stateward.cli.place import find_session, open_existing
from stateward.cli.rendering import print_json, say
from stateward.cli.step import BranchName, step_of, timeline_of
from stateward.errors import InputRefused

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
    session: SessionId,
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
    update = _update(updates or ())
    with open_existing(db) as database:
        found = find_session(session, database=database, graph=graph, overrides=overrides or ())
        made = timeline_of(found, branch=branch).fork(step_of(step), update=update or None, name=name)
    if as_json:
        print_json(branch_json(made))
        return
    say(f"Session {session} is on branch {made.name} now: {made.status} in {', '.join(made.at)}.")


def _update(words: Sequence[str]) -> dict[str, Any]:
    """Read the values of state keys."""
    update: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        try:
            update[key] = json.loads(text)
        except ValueError as error:
            what = f"The value of `{key}` is not JSON: {error}" if equals else f"`{word}` is no KEY=JSON"
            raise InputRefused(what, where="--update", fix="Write it as 'text=\"hello\"'.") from error
    return update
