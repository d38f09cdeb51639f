"""Steps and branches as the command line names them, and the timeline they belong to."""

from __future__ import annotations

from typing import Annotated

import typer

from stateward.run.branch import branch_named
from stateward.run.session import Session
from stateward.run.travel import Step, Timeline

StepWord = Annotated[str, typer.Argument(metavar="STEP", help="Its number, or a checkpoint's id.", show_default=False)]
BranchName = Annotated[
    str | None, typer.Option("--branch", metavar="NAME", help="A branch; by default the one the session is on.")
]


def step_of(text: str) -> Step:
    """Read a step.

    Args:
        text: The number of a step, or the id of a checkpoint.
    """
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else text


def timeline_of(session: Session, *, branch: str | None = None) -> Timeline:
    """Return the timeline of a session.

    Args:
        session: The session.
        branch: The branch; None for the one the session is on.

    Raises:
        NotExpected: The session has no such branch.
    """
    timeline = Timeline(session.graph, database=session.database, session=session.id, branch=branch)
    if branch is not None:
        branch_named(branch, known=timeline.branches(), session=session.id)
    return timeline
