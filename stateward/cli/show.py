"""`stateward show`: a session as it stood after one step."""

from __future__ import annotations

from typing import Annotated

import typer

from stateward.cli import options
from stateward.cli.place import opened_session
from stateward.cli.rendering import print_facts, print_json, print_table
from stateward.cli.revoke import revocation_json, told
from stateward.cli.standing import standing
from stateward.cli.step import BranchName, step_of, timeline_of
from stateward.cli.values import in_full
from stateward.errors import InputRefused, NotExpected
from stateward.run.moment import Moment
from stateward.run.store.ask import Ask
from stateward.run.travel import Step, Timeline

_HELP = """Show a session as it stood after one step.

The state's keys, the active states, what a person was asked, and what is
revoked from the session by now. By default the last step of the branch that
the session is on; `stateward history` lists the steps.

Examples:

  stateward show inbox-001
  stateward show inbox-001 --step 3
  stateward show inbox-001 --branch main --json
"""


def add_to(app: typer.Typer) -> None:
    """Add the command.

    Args:
        app: The application.
    """
    app.command("show", help=_HELP)(_show)


def _show(
    session: options.SessionId,
    step: Annotated[int | None, typer.Option("--step", metavar="N", min=0, help="The number of a step.")] = None,
    checkpoint: Annotated[
        str | None, typer.Option("--checkpoint", metavar="ID", help="A checkpoint, of whatever branch.")
    ] = None,
    branch: BranchName = None,
    graph: options.GraphOfSession = None,
    overrides: options.Overrides = None,
    db: options.Db = options.DEFAULT_DB,
    as_json: options.AsJson = False,
) -> None:
    if step is not None and checkpoint is not None:
        raise InputRefused("A step and a checkpoint are two", where="stateward show", fix="Name one of them.")
    with opened_session(session, db=db, graph=graph, overrides=overrides) as found:
        timeline = timeline_of(found, branch=branch)
        moment = timeline.at(_wanted(timeline, step if checkpoint is None else step_of(checkpoint)))
        revoked = found.database.revocations.of(session)
    if as_json:
        print_json({**moment_json(moment), "revoked": [revocation_json(one) for one in revoked]})
        return
    print_facts(
        {
            "session": moment.session,
            "branch": moment.branch,
            "step": moment.step,
            "checkpoint": moment.checkpoint,
            "status": moment.status,
            "state": standing(moment.path, status=moment.status, asks=moment.asks),
            "reason": moment.reason,
            "revoked": [told(one) for one in revoked],
            **in_full(moment.values),
        }
    )
    if moment.asks:
        print_table([_ask_line(ask) for ask in moment.asks], empty="")


def _wanted(timeline: Timeline, step: Step | None) -> Step:
    """By default the last step of the branch."""
    if step is not None:
        return step
    branches = timeline.branches()
    head = next(
        (one.head for one in branches if one.name == timeline.branch or (not timeline.branch and one.current)), ""
    )
    if not head:
        raise NotExpected(f"Session `{timeline.session}` has no steps", fix="Go on with it where it runs.")
    return head


def _ask_line(ask: Ask) -> dict[str, object]:
    about = {"ask": ask.id, "state": ask.path, "tool": ask.tool, "arguments": dict(ask.arguments)}
    return {**about, "status": ask.status, "decision": ask.decision, "by": ask.by, "note": ask.note}


def moment_json(moment: Moment) -> dict[str, object]:
    """Return a step as the command line's JSON tells it.

    Args:
        moment: Where the session stood.
    """
    return {
        "session": moment.session,
        "branch": moment.branch,
        "step": moment.step,
        "checkpoint": moment.checkpoint,
        "at": moment.at_s,
        "status": moment.status,
        "path": list(moment.path),
        "reason": moment.reason,
        "history": {path: list(targets) for path, targets in moment.history.items()},
        "asks": [_ask_line(ask) for ask in moment.asks],
        "values": dict(moment.values),
    }
