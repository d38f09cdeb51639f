"""`stateward freeze`."""

from __future__ import annotations

from stateward.testing.frozen import play_frozen


def test_a_run_becomes_a_file_that_plays(shell):
    """It names the graph as a test imports it."""
    shell.run("run", "toy_desk", shell.inbox({"id": "m1", "text": "hello"}))
    file = shell.folder / "runs" / "hello.json"
    told = shell.json("freeze", "case-m1", str(file))
    assert (told["graph"], told["secrets_in"]) == ("toy_desk:graph", [])
    assert play_frozen(file).same


def test_a_file_is_written_over_only_when_one_says_so(shell):
    """The record of a test is not lost by mistake."""
    shell.run("run", "toy_desk", shell.inbox({"id": "m1", "text": "hello"}))
    file = shell.folder / "hello.json"
    file.write_text("mine")
    result = shell.run("freeze", "case-m1", str(file))
    assert (result.exit_code, file.read_text()) == (2, "mine")
    assert "--force" in result.stderr
    assert shell.run("freeze", "case-m1", str(file), "--force").exit_code == 0
    assert play_frozen(file).same


def test_a_secret_in_the_state_is_told_on_stderr(shell):
    """The file is written all the same: somebody has to look."""
    shell.run("run", "toy_desk", shell.inbox({"id": "m1", "text": "my key is sk-proj-" + "a1B2" * 12}))
    result = shell.run("freeze", "case-m1", str(shell.folder / "f.json"))
    assert result.exit_code == 0
    assert "what looks like a secret: text" in result.stderr
