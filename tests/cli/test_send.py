"""`stateward send`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stateward.run.store.database import Database

ROOT = Path(__file__).parents[2]


@pytest.fixture
def resting(shell) -> str:
    """A session that waits in REST."""
    shell.nap("n1")
    shell.run("wake", "toy_nap")
    return "n1"


def test_an_event_goes_on_with_a_waiting_session(shell, resting):
    """It is taken here, with its fields."""
    told = shell.json("send", "toy_nap", resting, "note", "--data", '{"text": "milk"}')
    assert (told["event"], told["letter"], told["status"], told["state"]) == ("taken", None, "waiting", "REST")
    assert shell.json("resume", resting)["values"]["log"] == ["in", "milk"]
    assert shell.json("send", "toy_nap", resting, "stop")["status"] == "completed"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("toy_nap", "n1", "nonsense"), "Its events: note, stop"),
        (("toy_nap", "n1", "after.REST.0"), "only the chart itself"),
        (("toy_nap", "n1", "note", "--data", "{}"), "Its fields: text"),
        (("toy_nap", "n1", "note", "--data", "[]"), "not a JSON object"),
        (("toy_nap", "nobody", "stop"), "No session"),
        (("toy_wait", "n1", "stop"), "belongs to graph"),
    ],
)
def test_what_cannot_be_taken_is_refused(shell, resting, words, why):
    """Nothing is posted, and the message says what would do."""
    result = shell.run("send", *words)
    assert (result.exit_code, why in result.stderr) == (2, True), result.stderr
    assert shell.json("sessions")[0]["status"] == "waiting"


def test_an_event_for_a_session_that_another_runs_is_posted(shell, resting, database: Database):
    """With `--wait 0` the command does not wait until it is taken; whoever goes on takes it."""
    lease = database.leases.acquire(resting)
    told = shell.json("send", "toy_nap", resting, "stop", "--wait", "0", "--by", "ann")
    assert (told["event"], told["letter"], told["state"]) == ("posted", 1, "REST")
    assert database.mailbox.get(resting, 1).by == "ann"
    database.leases.release(lease)
    assert shell.json("resume", resting)["status"] == "completed"


@pytest.mark.slow
def test_an_event_stops_the_work_of_another_process(shell, monkeypatch):
    """One process runs an activity that never ends; the event leaves its state at once, and the other's run goes on."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    words = [sys.executable, "-c", "from stateward.cli import main; main()"]
    given = ("run", "toy_nap", '{"work": true, "log": []}', "--session", "w1")
    worker = subprocess.Popen([*words, *given], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not shell.shop.with_suffix(".began").exists():
        assert worker.poll() is None
    told = shell.json("send", "toy_nap", "w1", "stop")
    out, said = worker.communicate(timeout=60)
    assert (told["event"], told["state"], worker.returncode) == ("taken", "REST", 0), said
    assert "REST" in out
    assert shell.json("send", "toy_nap", "w1", "stop")["status"] == "completed"


def test_what_becomes_of_another_definition_is_said_with_a_word(shell):
    """As for `resume`: only a policy can be kept, and there is no other word."""
    shell.run("run", "toy_room:graph", '{"guest": "ann"}', "--session", "r1")
    for words in (("--set", "state=READY", "--drift", "keep"), ("--drift", "adopt")):
        result = shell.run("send", "toy_room:graph", "r1", "end", *words)
        assert (result.exit_code, "stateward migrate SESSION" in result.stderr) == (2, True)
    assert shell.json("send", "toy_room:graph", "r1", "end", "--drift", "keep")["status"] == "completed"
