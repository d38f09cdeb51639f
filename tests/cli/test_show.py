"""`stateward show`."""

from __future__ import annotations


def test_a_step_is_told_with_its_state_and_its_asks(shell):
    """The JSON has what stood open then, with what became of it."""
    shell.run("run", "toy_desk", shell.inbox({"id": "m2", "text": "please refund"}))
    told = shell.json("show", "case-m2")
    assert (told["status"], told["path"], told["branch"]) == ("waiting", ["WORKING.ACT"], "main")
    assert told["values"]["text"] == "please refund"
    (ask,) = told["asks"]
    assert (ask["tool"], ask["arguments"], ask["status"]) == ("pay", {"amount": 3.0}, "open")
    assert shell.json("show", "case-m2", "--checkpoint", told["checkpoint"]) == told


def test_the_text_names_the_keys_of_the_state(shell):
    """People read it without JSON."""
    shell.run("run", "toy_wait", '{"question": "why"}', "--session", "q1")
    shown = shell.run("show", "q1", "--step", "0").stdout
    assert "question:" in shown
    assert "running" in shown


def test_an_unknown_step_is_refused_with_those_there_are(shell):
    """Exit code 2."""
    shell.run("run", "toy_wait", '{"question": "why"}', "--session", "q1")
    result = shell.run("show", "q1", "--step", "9")
    assert (result.exit_code, "from 0 to 1" in result.stderr) == (2, True)


def test_a_step_and_a_checkpoint_are_refused_together(shell):
    """One of them was meant."""
    shell.run("run", "toy_wait", '{"question": "why"}', "--session", "q1")
    assert shell.run("show", "q1", "--step", "0", "--checkpoint", "x").exit_code == 2


def test_help_teaches_with_examples(shell):
    """It shows how it is used."""
    assert "stateward show" in shell.run("show", "--help").stdout.partition("Examples:")[2]
