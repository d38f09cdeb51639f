"""What a turn of a team costs: turns come out right, ours and those of LangChain's agents, and lines are laid out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import teams
from benchmarks.team_agents import AGENTS
from benchmarks.team_ours import OURS
from benchmarks.team_side import Side
from benchmarks.teams import Saver, compare, main, staged, table

SAVERS: tuple[Saver, ...] = ("memory", "sqlite")


def never(values: Mapping[str, Any]) -> bool:
    """Whatever was done, it is not what was to be done."""
    return False


@pytest.mark.parametrize("saver", SAVERS)
@pytest.mark.parametrize("side", [*OURS, *AGENTS], ids=lambda side: f"{side.name}-{side.turn}")
def test_turns_come_out_right(side: Side, saver: Saver, tmp_path: Path) -> None:
    """Also with the history of earlier turns; what they write is found."""
    with staged(side, saver, folder=tmp_path) as stage:
        stage.play("t", turns=3)
        checkpoints, whole = stage.held()
    assert 0 < checkpoints <= whole


def test_a_turn_that_comes_out_wrong_is_no_figure(tmp_path: Path) -> None:
    """What was not done is not measured."""
    wrong = replace(OURS[0], happened=never)
    with staged(OURS[0], "memory", folder=tmp_path) as stage, pytest.raises(RuntimeError, match="the handoff of"):
        replace(stage, side=wrong).play("t", turns=1)


def test_our_own_tables_are_told_apart(tmp_path: Path) -> None:
    """In a file of ours there is more than checkpoints, in one of LangGraph's there is nothing else."""
    with staged(OURS[2], "sqlite", folder=tmp_path) as ours, staged(AGENTS[1], "sqlite", folder=tmp_path) as theirs:
        both = [stage.held() for stage in (ours, theirs) if stage.play("t", turns=1)]
    assert [whole > checkpoints for checkpoints, whole in both] == [True, False]


def test_ours_and_theirs_are_compared() -> None:
    """The line tells both, and their ratio."""
    row = compare(OURS[2], AGENTS[1], saver="memory", rounds=2)
    assert (row.turn, row.rival, row.checkpoints) == ("react", "create_agent", row.ours_kb / row.theirs_kb)
    assert "react      detached create_agent         memory" in table([row], turns=1)


def test_json_has_an_object_for_each_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """For a program; LangChain's agents are there wherever we are."""
    monkeypatch.setattr(teams, "rivals", lambda: AGENTS)
    main(["--json", "--saver", "memory", "--rounds", "1"])
    rows = json.loads(capsys.readouterr().out)
    told = [(row["turn"], row["ours"], row["rival"]) for row in rows]
    assert told == [(ours.turn, ours.name, side.name) for ours in OURS for side in AGENTS if side.turn == ours.turn]
