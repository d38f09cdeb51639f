"""`stateward wake`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stateward.run.store.database import Database

ROOT = Path(__file__).parents[2]


def test_sessions_whose_time_has_come_go_on(shell):
    """Each is told with where it stands now; a second pass finds nothing."""
    shell.nap("n1")
    shell.nap("n2")
    told = shell.json("wake", "toy_nap")
    assert {(one["session"], one["status"], one["state"]) for one in told} == {
        ("n1", "waiting", "REST"),
        ("n2", "waiting", "REST"),
    }
    assert shell.json("wake", "toy_nap") == []
    assert "No session is due" in shell.run("wake", "toy_nap").stdout


def test_a_session_that_another_runs_is_left_alone(shell, database: Database):
    """Who runs it takes what is due."""
    shell.nap("n1")
    database.leases.acquire("n1")
    assert shell.json("wake", "toy_nap") == []


def test_a_session_with_a_posted_event_goes_on(shell, database: Database):
    """The process that was to take it may have died."""
    shell.nap("n1")
    shell.run("wake", "toy_nap")
    database.mailbox.post("n1", "stop")
    assert [one["status"] for one in shell.json("wake", "toy_nap")] == ["completed"]


def test_what_becomes_of_another_policy_is_said_with_a_word(shell):
    """Left as it was, or gone on with; there is no other word."""
    shell.ask("d1")
    other = ("--set", "policy.fuses.turns=3")
    (told,) = shell.json("wake", "toy_desk", *other, code=1)
    assert "--drift keep" in told["error"]
    (told,) = shell.json("wake", "toy_desk", *other, "--drift", "keep")
    assert told["error"] is None
    assert shell.run("wake", "toy_desk", "--drift", "adopt").exit_code == 2


def test_sessions_of_other_graphs_sleep_on(shell):
    """A graph wakes its own."""
    shell.nap("n1")
    assert shell.json("wake", "toy_wait") == []


def test_a_session_that_cannot_go_on_is_told(shell, database: Database):
    """One whose checkpoints are elsewhere is left as it was; the exit code says that something failed."""
    shell.nap("n1")
    shell.nap("n2")
    database.saver.delete_thread("n1")
    told = shell.json("wake", "toy_nap", code=1)
    assert {(one["session"], one["status"], bool(one["error"])) for one in told} == {
        ("n1", None, True),
        ("n2", "waiting", False),
    }


@pytest.mark.slow
def test_a_watching_driver_goes_on_until_it_is_stopped(shell, monkeypatch):
    """It tells each session on a line of its own; Ctrl-C ends it with 130."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    shell.nap("n1")
    words = [sys.executable, "-c", "from stateward.cli import main; main()", "wake", "toy_nap"]
    options = ["--watch", "--every", "0.1", "--json"]
    driver = subprocess.Popen([*words, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    assert json.loads(driver.stdout.readline())["session"] == "n1"
    shell.nap("n2")
    assert json.loads(driver.stdout.readline())["state"] == "REST"
    os.kill(driver.pid, signal.SIGINT)
    _, said = driver.communicate(timeout=60)
    assert (driver.returncode, "Traceback" in said) == (130, False), said
