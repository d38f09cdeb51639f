"""`stateward archive` and `stateward restore`."""

from __future__ import annotations


def test_a_session_moves_to_another_database(shell):
    """And goes on there: what was asked is answered."""
    shell.run("run", "toy_desk", shell.inbox({"id": "m2", "text": "please refund"}))
    file, other = str(shell.folder / "case.zip"), f"sqlite:///{shell.folder / 'other.db'}"
    told = shell.json("archive", "case-m2", file)
    assert shell.json("restore", file, "--db", other) == told
    (ask,) = shell.json("inbox", "--db", other)
    assert shell.json("answer", ask["id"], "approve", "--by", "ann", "--db", other)["status"] == "completed"
    assert shell.effects("pay") == 1


def test_a_copy_is_restored_under_another_id(shell):
    """Beside the session that it was made of; a second one under the same id is refused."""
    shell.run("run", "toy_desk", shell.inbox({"id": "m2", "text": "please refund"}))
    file = str(shell.folder / "case.zip")
    shell.run("archive", "case-m2", file)
    assert shell.json("restore", file, "--as", "trial")["session"] == "trial"
    (ask,) = [ask for ask in shell.json("inbox") if ask["session"] == "trial"]
    assert shell.json("answer", ask["id"], "approve", "--by", "ann")["status"] == "completed"
    assert [row["status"] for row in shell.json("sessions")] == ["waiting", "completed"]
    assert shell.run("restore", file, "--as", "trial").exit_code == 2


def test_it_is_told_what_was_written(shell):
    """Name, size and digest; and nothing is overwritten."""
    shell.run("run", "toy_wait", '{"question": "why?"}', "--session", "q1")
    file = str(shell.folder / "q1.zip")
    assert "digest" in shell.run("archive", "q1", file).stdout
    assert shell.run("archive", "q1", file).exit_code == 2
    assert shell.run("restore", file).exit_code == 2


def test_help_teaches_with_examples(shell):
    """Both commands show how they are used."""
    assert "stateward archive" in shell.run("archive", "--help").stdout.partition("Examples:")[2]
    assert "stateward restore" in shell.run("restore", "--help").stdout.partition("Examples:")[2]
