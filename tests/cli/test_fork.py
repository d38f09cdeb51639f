"""`stateward fork`."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def waiting(shell):
    """A session that waits after its first round."""
    shell.run("run", "toy_wait", '{"question": "why"}', "--session", "q1")


def test_the_session_is_on_the_new_branch(shell):
    """The JSON tells where it stands, and the next command goes on there."""
    told = shell.json("fork", "q1", "0")
    assert (told["branch"], told["current"], told["of"], told["forked_at"]) == ("main.1", True, "main", 0)
    assert shell.json("resume", "q1")["status"] == "waiting"
    steps = shell.json("history", "q1")["steps"]
    assert [step["branch"] for step in steps] == ["main", "main.1", "main.1"]


def test_a_fork_changes_the_state_and_has_a_name(shell):
    """With another question the chart goes another way."""
    shell.run("fork", "q1", "0", "--update", 'question="please"', "--name", "polite")
    assert shell.json("resume", "q1")["status"] == "completed"
    assert shell.json("show", "q1")["branch"] == "polite"


@pytest.mark.parametrize("update", ["question", "question=why", "nobody=1", "question=3"])
def test_what_is_no_value_of_the_state_is_refused(shell, update):
    """Exit code 2, and no branch."""
    assert shell.run("fork", "q1", "0", "--update", update).exit_code == 2
    assert [branch["branch"] for branch in shell.json("branches", "q1")] == ["main"]


def test_the_text_says_where_the_session_is(shell):
    """And on which branch."""
    assert "on branch main.1 now: waiting in TALKING.REST" in shell.run("fork", "q1", "1").stderr


def test_the_command_that_goes_on_is_written_out(shell):
    """With the options that this one was given."""
    told = shell.run("fork", "q1", "0", "--graph", "toy_wait").stderr
    assert "stateward resume q1 --graph toy_wait" in told


def test_help_teaches_with_examples(shell):
    """It shows how it is used."""
    assert "stateward fork" in shell.run("fork", "--help").stdout.partition("Examples:")[2]
