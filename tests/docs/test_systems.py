"""What docs/systems.md says of a command is what it prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from docs.draw import ROOT
from stateward.cli.app import build_app

PAGE = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n(.+?)```", PAGE, re.M | re.S)
KEPT = {"market_research": "market", "image_brief": "images"}
"""Which systems write files, and into which folder."""


def commands(block: str) -> list[tuple[list[str], list[str]]]:
    """Read the commands of a block, each with the lines that it is said to print."""
    told: list[tuple[list[str], list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            told.append((shlex.split(line)[2:], []))
        else:
            told[-1][1].append(line.removesuffix("…").strip())
    return told


def words(line: str) -> str:
    """Leave out how many blanks stand between two words: a column is as wide as the longest name."""
    return " ".join(line.split())


@pytest.mark.parametrize("block", BLOCKS)
def test_a_command_of_the_page_prints_what_the_page_says(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Line by line; what the page leaves out is not looked at."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("STATEWARD_DB", f"sqlite:///{tmp_path / 'systems.db'}")
    for command, expected in commands(block):
        out = [f"config.out={tmp_path / KEPT[each]}" for each in command if each in KEPT]
        result = CliRunner().invoke(build_app(), [*command, *out])
        assert result.exit_code == 0, result.output
        missing = [line for line in expected if words(line) not in words(result.output)]
        assert missing == [], result.output


def test_every_system_is_on_the_page() -> None:
    """A new graph wants a command of its own."""
    graphs = {file.stem for file in (ROOT / "graphs").glob("*.py")} - {"__init__", "support_desk"}
    named = {command[1] for block in BLOCKS for command, _ in commands(block) if command[0] == "run"}
    assert named == graphs
