"""`stateward resume`."""

from __future__ import annotations

import pytest


@pytest.fixture
def resting(shell) -> str:
    """A session that waits for an event, with one of two turns spent."""
    shell.run("run", "toy_wait", '{"question": "why?"}', "--session", "q1")
    return "q1"


def test_an_event_with_data_goes_on(shell, resting):
    """The event's fields reach the activity."""
    told = shell.json("resume", resting, "ask", "--data", '{"times": 1}')
    assert (told["status"], told["state"]) == ("waiting", "TALKING.REST")
    assert shell.json("resume", resting, "stop")["status"] == "completed"


def test_an_event_nobody_waits_for_is_refused(shell, resting):
    """The message names the awaited events."""
    result = shell.run("resume", resting, "nope")
    assert result.exit_code == 2
    assert "Awaited: ask, stop" in result.stderr


def test_data_must_fit_the_event(shell, resting):
    """Wrong data, data that is no object, and data without an event are refused."""
    for words in (("ask", "--data", '{"time": 1}'), ("ask", "--data", "[1]"), ("--data", "{}"), ("ask", "--data", "{")):
        assert shell.run("resume", resting, *words).exit_code == 2


def test_an_unfinished_session_goes_on_without_an_event(shell):
    """As after a crash."""
    shell.interrupt("case-m1")
    assert shell.json("resume", "case-m1")["status"] == "completed"


def test_a_raised_limit_lets_the_session_spend_more(shell, resting, database):
    """Without it the fuse trips; with it the event is worked off, and the audit log knows who and why."""
    shell.run("resume", resting, "ask")
    assert shell.json("resume", resting, "ask")["state"] == "TIRED"
    words = ("--raise", "turns=20", "--by", "ann", "--reason", "a long case")
    assert shell.json("resume", resting, "ask", *words)["state"] == "TALKING.REST"
    run = database.sessions.get(resting).run
    assert database.ledger.limit_for(resting, run, "TALKING", "turns") == 20


def test_a_limit_is_raised_for_a_reason(shell, resting):
    """Without a reason nothing happens."""
    assert shell.run("resume", resting, "ask", "--raise", "turns=20", "--by", "ann").exit_code == 2


def test_a_limit_that_does_not_exist_is_refused(shell, resting):
    """The message lists the limits there are."""
    for text in ("usd=3", "turns@NOWHERE=3", "turns", "turns=many"):
        result = shell.run("resume", resting, "ask", "--raise", text, "--by", "ann", "--reason", "r")
        assert result.exit_code == 2
    assert "turns" in shell.run("resume", resting, "--raise", "usd=3", "--by", "a", "--reason", "r").stderr


def test_a_session_keeps_the_policy_its_run_began_under(shell):
    """Without the word it is refused."""
    shell.interrupt("case-m1")
    other = ("--set", "policy.fuses.turns=3")
    assert shell.run("resume", "case-m1", *other).exit_code == 2
    assert shell.json("resume", "case-m1", *other, "--drift", "keep")["status"] == "completed"


def test_another_chart_cannot_be_kept(shell):
    """The message names the way there is."""
    shell.run("run", "toy_room:graph", '{"guest": "ann"}', "--session", "r1")
    result = shell.run("resume", "r1", "--graph", "toy_room:graph", "--set", "state=READY", "--drift", "keep")
    assert (result.exit_code, "stateward migrate SESSION" in result.stderr) == (2, True)
