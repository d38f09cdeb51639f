"""Checkers hold an author's functions against the chart's schema: what fits is clean, what does not is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.house.source import ROOT

FOLDER = ROOT / "tests" / "typing"
SETTINGS = {
    "include": [str(FOLDER)],
    "extraPaths": [str(ROOT)],
    "pythonVersion": "3.11",
    "typeCheckingMode": "strict",
    "reportUnnecessaryTypeIgnoreComment": "error",
}
"""An ignore that is not needed is an error: so each line that has one is refused, by the rule it names."""


@pytest.mark.slow
def test_functions_are_checked_against_the_schema(tmp_path: Path) -> None:
    """In each file the first part is accepted as it stands, and every line of the last part is refused."""
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(SETTINGS))
    said = checked(tmp_path)
    assert said["summary"]["filesAnalyzed"] == len(list(FOLDER.glob("*.py")))
    assert [f"{Path(one['file']).name}: {one['range']['start']}: {one['message']}" for one in found(said)] == []


def test_every_file_has_lines_that_are_refused() -> None:
    """A file without them would prove half."""
    assert [path.name for path in FOLDER.glob("*.py") if path.read_text().count("# pyright: ignore[") < 5] == []


def checked(project: Path) -> dict[str, Any]:
    """Return what the checker says of a project, as it says it."""
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "-p", str(project), "--pythonpath", sys.executable]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)


def found(said: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the findings of a report."""
    return said["generalDiagnostics"]
