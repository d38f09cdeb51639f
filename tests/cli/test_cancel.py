"""`stateward cancel` and `stateward drain`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def resting(shell) -> str:
    """A session that waits in REST."""
    shell.nap("n1")
    shell.run("wake", "toy_nap")
    return "n1"


def test_waiting_session_is_cancelled(shell, resting):
    """With who and why; the row says so too."""
    told = shell.json("cancel", resting, "--by", "ann", "--reason", "sent twice")
    assert (told["status"], told["reason"]["data"]) == ("cancelled", {"by": "ann", "reason": "sent twice"})
    assert shell.json("sessions")[0]["status"] == "cancelled"


def test_cancelled_session_is_not_cancelled_again(shell, resting):
    """The command says what is the matter, and changes nothing."""
    shell.run("cancel", resting)
    result = shell.run("cancel", resting)
    assert (result.exit_code, "it is cancelled" in result.stderr) == (2, True)


def test_unknown_session_is_refused(shell, resting):
    """As everywhere."""
    assert shell.run("cancel", "nobody").exit_code == 2


def test_waiting_session_needs_no_draining(shell, resting):
    """It is told where it stands."""
    assert shell.json("drain", resting)["status"] == "waiting"


@pytest.mark.slow
def test_work_of_another_process_is_cancelled(shell, monkeypatch):
    """That process runs an activity which never ends; it stops, and tells the end of its run."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    words = [sys.executable, "-c", "from stateward.cli import main; main()"]
    given = ("run", "toy_nap", '{"work": true, "log": []}', "--session", "w1")
    worker = subprocess.Popen([*words, *given], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not shell.shop.with_suffix(".began").exists():
        assert worker.poll() is None
    told = shell.json("cancel", "w1", "--by", "ann")
    out, said = worker.communicate(timeout=60)
    assert (told["status"], "cancelled" in out) == ("cancelled", True), said
