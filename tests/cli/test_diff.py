"""`stateward diff`."""

from __future__ import annotations


def test_what_lies_between_two_steps_is_told(shell):
    """Keys with both values, the states, and the calls."""
    shell.run("run", "toy_wait", '{"question": "why"}', "--session", "q1")
    told = shell.json("diff", "q1", "0", "1")
    assert told["values"] == {"said": {"before": None, "after": ["hi"]}}
    assert told["path"] == {"before": [], "after": ["TALKING.REST"]}
    assert [call["name"] for call in told["calls"]] == ["talker"]
    assert (told["before"]["step"], told["after"]["step"], told["calls_before_only"]) == (0, 1, [])


def test_the_table_names_what_changed(shell):
    """People see it in one line a key."""
    shell.run("run", "toy_wait", '{"question": "why"}', "--session", "q1")
    shown = shell.run("diff", "q1", "0", "1").stdout
    assert all(word in shown for word in ("said", "(states)", "(status)", "talker completed"))


def test_a_step_does_not_differ_from_itself(shell):
    """It says so."""
    shell.run("run", "toy_wait", '{"question": "why"}', "--session", "q1")
    assert "the same" in shell.run("diff", "q1", "1", "1").stdout


def test_help_teaches_with_examples(shell):
    """It shows how it is used."""
    assert "stateward diff" in shell.run("diff", "--help").stdout.partition("Examples:")[2]
