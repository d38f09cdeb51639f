"""`market_research` on the local model: whatever it chooses and says, the run ends in a legal state, with a report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graphs.market_research import WORKERS, build
from stateward.testing import How
from tests.charts.drive import Driven
from tests.graphs.team import answer, ask, is_whole
from tests.llm.asking import role
from tests.llm.shim import Shim

pytestmark = pytest.mark.slow
WORDS = 60
"""The most tokens of one reply: enough for a choice."""


@pytest.fixture
def how() -> How:
    """One way is enough: the other tests go both, and this model takes its time."""
    return "async"


def test_the_local_model_ends_in_a_legal_state(shim: Shim, drive: Callable[..., Driven], tmp_path: Path) -> None:
    """Three supervisors and six workers are one small model; turns are bounded, and nothing is written elsewhere."""
    models = {name: role(shim, name=name, max_output_tokens=WORDS) for name in (*WORKERS, "supervisor", "controller")}
    overrides = [f"config.out={tmp_path / 'work'}", "config.max_steps=1", "policy.fuses.turns=14"]
    done = drive(build(env={}, overrides=[*overrides, "policy.call_timeout_s=300"], models=models)).start(
        ask("What does a reusable box cost?")
    )
    assert (done.status, done.path, bool(answer(done))) == ("completed", "DONE", True)
    assert all(is_whole(done, key=role) for role in WORKERS if role in done.values)
    assert len(shim.asked) <= 14
    kept = [file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.md")]
    assert all("/reports/" in file or "/notes/" in file for file in kept)
    assert any(done.values["report"].endswith(file) for file in kept)
