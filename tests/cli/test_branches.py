"""`stateward branches`."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def forked(shell):
    """A session on its second branch."""
    shell.run("run", "toy_wait", '{"question": "why"}', "--session", "q1")
    shell.run("fork", "q1", "1", "--name", "try")


def test_branches_are_told_with_where_they_stand(shell):
    """The JSON names the current one and where it was forked."""
    main, other = shell.json("branches", "q1")
    assert (main["branch"], main["current"], main["status"], main["of"]) == ("main", False, "waiting", "")
    assert (other["branch"], other["current"], other["of"], other["forked_from"]) == ("try", True, "main", main["head"])


def test_the_table_names_the_current_branch(shell):
    """And the step it was forked from."""
    shown = shell.run("branches", "q1").stdout
    assert "yes" in shown
    assert "main, step 1" in shown


def test_a_session_goes_back_to_a_branch(shell):
    """The next command goes on there."""
    assert [branch["current"] for branch in shell.json("branches", "q1", "--switch", "main")] == [True, False]
    shell.run("resume", "q1", "stop")
    assert [branch["status"] for branch in shell.json("branches", "q1")] == ["completed", "waiting"]


def test_history_shows_one_branch(shell):
    """That of the session, or another one by its name."""
    assert [step["event"] for step in shell.json("history", "q1")["steps"]][-1] == "fork"
    assert {step["branch"] for step in shell.json("history", "q1", "--branch", "main")["steps"]} == {"main"}


@pytest.mark.parametrize("words", [("branches", "q1", "--switch", "x"), ("history", "q1", "--branch", "x")])
def test_an_unknown_branch_is_refused_with_those_there_are(shell, words):
    """Exit code 2."""
    result = shell.run(*words)
    assert (result.exit_code, "main, try" in result.stderr) == (2, True)


def test_help_teaches_with_examples(shell):
    """It shows how it is used."""
    assert "stateward branches" in shell.run("branches", "--help").stdout.partition("Examples:")[2]
