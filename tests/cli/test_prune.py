"""`stateward prune` and `stateward pin`."""

from __future__ import annotations

import pytest


@pytest.fixture
def desk(shell):
    """Twenty-five sessions with some checkpoints each."""
    shell.run("run", "toy_desk", shell.inbox(*({"id": f"m{number}", "text": "hello"} for number in range(25))))
    return shell


def test_old_checkpoints_go(desk):
    """Every session is told, with what went; it is as it was otherwise."""
    before = desk.json("sessions")
    told = desk.json("prune", "--keep", "1", "--dry-run")
    done = desk.json("prune", "--keep", "1", "--vacuum")
    assert (told["dry_run"], told["sessions"]) == (True, done["sessions"])
    assert (len(done["sessions"]), done["removed"] > 25, done["returned_to_disk"] >= 0) == (25, True, True)
    assert (desk.json("sessions"), desk.json("prune", "--keep", "1")["removed"]) == (before, 0)


def test_the_table_says_what_went(desk):
    """Nothing more is nothing to tell."""
    first = desk.run("prune", "--keep", "1", "--session", "case-m1", "--vacuum")
    assert ("case-m1" in first.stdout, "case-m2" in first.stdout, "went" in first.stdout) == (True, False, True)
    assert "Nothing is old enough to go." in desk.run("prune", "--keep", "1", "--session", "case-m1").stdout


def test_a_pinned_checkpoint_stays(desk):
    """Until it is told otherwise."""
    step = desk.json("history", "case-m1")["steps"][0]["checkpoint"]
    assert "is pinned" in desk.run("pin", "case-m1", step).stderr
    first = desk.json("prune", "--keep", "1", "--session", "case-m1")
    assert step in [one["checkpoint"] for one in desk.json("history", "case-m1")["steps"]]
    desk.run("pin", "case-m1", step, "--remove")
    again = desk.json("prune", "--keep", "1", "--session", "case-m1")
    assert (first["removed"] > 0, again["removed"]) == (True, 1)


@pytest.mark.parametrize(
    "words",
    [("prune",), ("prune", "--keep", "0"), ("prune", "--days", "nan"), ("prune", "--keep", "1", "--session", "no")],
)
def test_what_cannot_be_done_is_refused(desk, words):
    """Nothing to keep, or no such session."""
    assert desk.run(*words).exit_code == 2
    assert desk.run("pin", "case-m1", "nope").exit_code == 2


def test_what_is_to_be_kept_is_said_in_the_words_of_the_command_line(desk):
    """Whoever forgot it sees the options."""
    assert "`--keep` or `--days`" in desk.run("prune").stderr


def test_help_teaches_with_examples(shell):
    """Both commands show how they are used."""
    assert "stateward prune" in shell.run("prune", "--help").stdout.partition("Examples:")[2]
    assert "stateward pin" in shell.run("pin", "--help").stdout.partition("Examples:")[2]
