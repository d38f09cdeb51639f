"""How soon a parallel call's result is seen: every stream tells each result, and lines are laid out."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from benchmarks import team_visible, teams
from benchmarks.team_visible import CALLS, Visible, laid_out

TOOK = [float(each) for each in range(1, 101)]


def test_each_stream_is_measured(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Our typed events both ways, LangGraph's stream of our graph, and that of LangChain's agent."""
    monkeypatch.setattr(team_visible, "APART_S", 0.0)
    teams.main(["--visible", "--json", "--saver", "memory", "--rounds", "1"])
    lines = json.loads(capsys.readouterr().out)
    assert [line["stream"] for line in lines] == [
        "Session.aevents",
        "Session.events",
        "our graph, custom",
        "create_agent, updates",
    ]


def test_every_call_of_a_batch_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that left some out would tell nothing."""
    monkeypatch.setattr(team_visible, "APART_S", 0.0)
    counted: list[int] = []

    def count(took: Sequence[float], **_: str) -> None:
        counted.append(len(took))

    monkeypatch.setattr(Visible, "of", count)
    team_visible.measured(rounds=2, saver="sqlite")
    assert counted == [2 * CALLS] * 4


def test_a_line_tells_the_shares_and_the_limit() -> None:
    """The worst one is among them."""
    line = Visible.of(TOOK, stream="s", saver="memory")
    assert (line.p50_ms, line.p99_ms, line.max_ms) == (51.0, 100.0, 100.0)
    assert laid_out([line]).splitlines()[-1].split() == ["s", "memory", "51.0", "100.0", "100.0", "20.0"]
