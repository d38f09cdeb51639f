"""SIGKILL between the setting and the firing of a timer, and while an event is in the mailbox: each comes once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
KILLED = -9


@pytest.fixture(scope="module", params=["sync", "async"])
def cases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What became of a session that was killed at each point it passes, and gone on with by another process."""
    command = [sys.executable, "-m", "tests.crash.sleeper", str(tmp_path_factory.mktemp("sleeper")), request.param]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_killed_sleeper_comes_to_its_end(cases: list[dict[str, Any]]) -> None:
    """Whoever goes on finds what is pending in the checkpoint."""
    assert len(cases) > 20
    assert [case for case in cases if (case["killed"], case["ended"], case["status"]) != (KILLED, 0, "completed")] == []


def test_each_timer_fires_once_and_each_event_is_taken_once(cases: list[dict[str, Any]]) -> None:
    """Nothing is lost and nothing comes twice, wherever the process died."""
    wrong = [case for case in cases if sorted(case["log"]) != ["in", "note", "ok", "rested", "woke"]]
    assert wrong == []
    assert {tuple(case["letters"]) for case in cases} == {("taken",)}


def test_what_a_timer_led_to_is_one_effect(cases: list[dict[str, Any]]) -> None:
    """Its activity has one activation, so that a repeated call has the same key."""
    assert {len(set(case["keys"])) for case in cases} == {1}
