"""`stateward branches`: the branches of a session, and going back to one."""

from __future__ import annotations

from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.place import opened_session
from stateward.cli.rendering import print_json, print_table
from stateward.cli.step import timeline_of
from stateward.run.branch import Branch

_HELP = """List the branches of a session, or let it go on with another one.

A session has one current branch: resume, send and answer go on with it.

Examples:

  stateward branches inbox-001
  stateward branches inbox-001 --switch main
"""


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("branches", help=_HELP)(_branches)


def _branches(
    session: options.SessionId,
    switch: Annotated[
        str | None, typer.Option("--switch", metavar="NAME", help="Go on with this branch from now on.")
    ] = None,
    graph: options.GraphOfSession = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    with opened_session(session, db=db, graph=graph, overrides=overrides) as found:
        timeline = timeline_of(found)
        if switch is not None:
            timeline.switch(switch)
        branches = timeline.branches()
    if as_json:
        print_json([branch_json(branch) for branch in branches])
        return
    print_table([_line(branch) for branch in branches], empty="No branches yet.")


def _line(branch: Branch) -> dict[str, object]:
    return {
        "branch": branch.name,
        "current": branch.current,
        "status": branch.status,
        "state": ", ".join(branch.at),
        "forked from": f"{branch.of}, step {branch.forked_at}" if branch.of else "",
    }


def branch_json(branch: Branch) -> dict[str, object]:
    """Return a branch as the command line's JSON tells it.

    Args:
        branch: The branch.
    """
    return {
        "branch": branch.name,
        "current": branch.current,
        "status": branch.status,
        "path": list(branch.at),
        "head": branch.head,
        "of": branch.of,
        "forked_from": branch.forked_from,
        "forked_at": branch.forked_at,
    }
