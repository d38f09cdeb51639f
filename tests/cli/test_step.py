"""Steps and branches as the command line names them."""

from __future__ import annotations

import pytest

from stateward.cli.place import find_session
from stateward.cli.step import step_of, timeline_of
from stateward.errors import NotExpected

ID = "1f0a3c5e-7b1d-6f2a-8004-5c9d1e2f3a4b"


@pytest.mark.parametrize(("text", "step"), [("3", 3), (ID, ID), ("²", "²"), ("", "")])
def test_a_step_is_a_number_or_a_checkpoint(text: str, step: int | str):
    """What is no number in plain digits is taken for an id."""
    assert step_of(text) == step


def test_a_branch_must_be_one_of_the_session(shell, database):
    """The message lists those that there are."""
    shell.interrupt("one")
    session = find_session("one", database=database)
    assert timeline_of(session, branch="main").branch == "main"
    with pytest.raises(NotExpected, match=r"no branch `other`.*Its branches: main"):
        timeline_of(session, branch="other")
