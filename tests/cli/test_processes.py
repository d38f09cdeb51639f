"""The command line in real processes: killed, stopped, and answering from elsewhere."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MESSAGES = tuple({"id": f"m{n}", "text": "please refund" if n % 5 == 0 else "hello"} for n in range(15))
AT_REST = {"completed", "waiting"}

pytestmark = pytest.mark.slow


@pytest.fixture
def begin(shell, monkeypatch) -> Callable[..., subprocess.Popen[str]]:
    """Start a command in a process of its own; each look-up in it takes a while."""
    monkeypatch.setenv("TOY_PAUSE_S", "0.3")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    words = [sys.executable, "-c", "from stateward.cli import main; main()"]

    def start(*command: str) -> subprocess.Popen[str]:
        return subprocess.Popen([*words, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start


def until_first_session_is_done(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    line = process.stderr.readline()
    assert line.startswith("[1/"), line + process.stderr.read()
    return line


def end(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    os.kill(process.pid, number)
    _, said = process.communicate(timeout=60)
    return process.returncode, said


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_killed_three_times_a_job_loses_and_repeats_nothing(shell, begin):
    """After kill -9 and --resume, every message is at rest once and every effect happened once."""
    file = shell.inbox(*MESSAGES)
    for words in ((), ("--resume",), ("--resume",)):
        process = begin("run", "toy_desk", file, "--concurrency", "3", *words)
        until_first_session_is_done(process)
        assert end(process, signal.SIGKILL)[0] == -signal.SIGKILL
    rows = shell.json("run", "toy_desk", file, "--resume")["rows"]
    assert {row["status"] for row in rows} == AT_REST
    assert shell.effects("note") == 12
    for ask in shell.json("inbox"):
        shell.run("answer", ask["id"], "approve", "--by", "ann")
    assert {row["status"] for row in shell.json("sessions")} == {"completed"}
    assert (shell.effects("pay"), shell.effects("note")) == (3, 15)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_a_job_says_how_to_go_on(shell, begin, number):
    """Exit code 130, the exact command, no lease left; and that command finishes the job."""
    file = shell.inbox(*MESSAGES)
    process = begin("run", "toy_desk", file, "--concurrency", "3")
    until_first_session_is_done(process)
    code, said = end(process, number)
    assert code == 130, said
    assert f"stateward run toy_desk {file} --resume" in said
    assert "Traceback" not in said
    assert all(row["stalled"] for row in shell.json("sessions", "--status", "running"))
    rows = shell.json("run", "toy_desk", file, "--resume")["rows"]
    assert {row["status"] for row in rows} == AT_REST
    assert shell.effects("note") == 12


def test_an_answer_from_another_process_runs_the_effect_once(shell, begin):
    """Two processes answer at once: one goes on with the session, the other is refused."""
    shell.run("run", "toy_desk", "inbox.jsonl")
    ask = shell.json("inbox")[0]["id"]
    both = [begin("answer", ask, "approve", "--by", name) for name in ("ann", "bob")]
    said = [process.communicate(timeout=60) for process in both]
    assert sorted(process.returncode for process in both) == [0, 2], said
    assert shell.effects("pay") == 1
    assert shell.json("sessions", "--status", "waiting") == []


def test_one_session_can_be_stopped_and_resumed(shell, begin, monkeypatch):
    """The message names `resume` with the session's id."""
    monkeypatch.setenv("TOY_PAUSE_S", "3")  # still at work when a busy machine has seen that it is, and stops it
    process = begin("run", "toy_desk", json.dumps({"message": "m", "text": "hello"}), "--session", "one")
    while not any(row["path"] == ["WORKING.ACT"] for row in _sessions(shell)):
        assert process.poll() is None
    code, said = end(process, signal.SIGINT)
    assert code == 130, said
    assert "stateward resume one" in said
    monkeypatch.setenv("TOY_PAUSE_S", "0")
    assert shell.json("resume", "one")["status"] == "completed"


def _sessions(shell) -> list[dict[str, object]]:
    result = shell.run("sessions", "--json")
    return json.loads(result.stdout) if result.exit_code == 0 else []
