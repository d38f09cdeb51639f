"""`graphs` and `nodes` are those of this checkout, wherever it stands on the path."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.source import CONTENT, ROOT

LATE = "import sys; sys.path += sys.argv[1:]; import {name}; print({name}.__file__)"


@pytest.mark.parametrize("name", CONTENT)
def test_the_checkout_is_found_when_it_stands_last(name: str, tmp_path: Path) -> None:
    """An editable install appends the root; nothing that is installed hides the folders then."""
    assert shown(LATE.format(name=name), str(ROOT), cwd=tmp_path) == str(ROOT / name / "__init__.py")


@pytest.mark.parametrize("name", CONTENT)
def test_a_folder_of_the_same_name_before_it_does_not_hide_it(name: str, tmp_path: Path) -> None:
    """A folder without `__init__.py` earlier on the path loses, because ours has one."""
    (tmp_path / "other" / name).mkdir(parents=True)
    found = shown(LATE.format(name=name), str(tmp_path / "other"), str(ROOT), cwd=tmp_path)
    assert found == str(ROOT / name / "__init__.py")


def shown(code: str, *path: str, cwd: Path) -> str:
    command = [sys.executable, "-I", "-c", code, *path]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout.strip()
