"""Answering an ask of a branch that its session has left: it is said which branch is meant, and then gone on with."""

from __future__ import annotations

from typing import Annotated

import typer

from stateward.cli.step import timeline_of
from stateward.errors import NotExpected
from stateward.run.session import Session
from stateward.run.store.ask import Ask

Branch = Annotated[
    str | None,
    typer.Option("--branch", metavar="NAME", help="The branch the ask stands on, when the session has left it."),
]


def expect(session: Session, ask: Ask, branch: str | None) -> None:
    """Check that an answer would lead somewhere, before it is recorded.

    Args:
        session: The ask's session.
        ask: The ask.
        branch: From `--branch`; without it the session must be on the ask's branch.

    Raises:
        NotExpected: The ask stands on another branch, or nobody waits for its answer.
        Drift: The branch's run was started by another definition.
    """
    if branch is None:
        session.expect(ask.id)
        return
    if branch != ask.branch:
        raise NotExpected(
            f"Ask `{ask.id}` stands on branch `{ask.branch}`, not on `{branch}`",
            where=f"session `{ask.session}`",
            fix="Name its own branch; `stateward inbox` tells it.",
        )
    timeline_of(session).expect(ask.id)


def turn(session: Session, ask: Ask) -> None:
    """Let a session go on with the branch of an ask, if it is on another one.

    Args:
        session: The ask's session.
        ask: The ask.

    Raises:
        SessionBusy: A run holds the session.
    """
    row = session.row()
    if row is not None and row.branch != ask.branch:
        timeline_of(session).switch(ask.branch)


def is_beside(other: Ask, ask: Ask) -> bool:
    """Tell whether an ask is of the same activity as another: it goes on when none of them is open.

    Args:
        other: One ask.
        ask: The other.
    """
    return (other.branch, other.path) == (ask.branch, ask.path)
