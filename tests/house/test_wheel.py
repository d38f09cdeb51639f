"""What a pip user gets: the wheel holds the package alone, and the README's quick start runs on it."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from sysconfig import get_path
from zipfile import ZipFile

import pytest

from tests.house.documents import README, blocks
from tests.house.source import PACKAGE, ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=ROOT)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def home(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel in it; the dependencies are those of this one, so no network is needed."""
    folder = tmp_path_factory.mktemp("home")
    venv.create(folder / "venv", with_pip=True)
    python = str(folder / "venv" / "bin" / "python")
    run(python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", str(wheel), cwd=folder)
    where = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip()
    (Path(where) / "dependencies.pth").write_text(f"{get_path('purelib')}\n")
    return folder


def test_the_wheel_holds_the_package_alone(wheel: Path) -> None:
    """`stateward` with its type marker and metadata, and the pytest plugin; no content, tests or notebooks."""
    names = ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {PACKAGE, "_stateward_pytest.py"}
    assert f"{PACKAGE}/py.typed" in names


def test_the_quick_start_runs_on_the_wheel_outside_of_the_checkout(home: Path) -> None:
    """The README's Python, as one program, in an empty folder."""
    work = home / "work"
    work.mkdir()
    program = "\n".join(block.code for block in blocks(README))
    assert program, "the README has no Python block"
    (work / "quick_start.py").write_text(program)
    run(str(home / "venv" / "bin" / "python"), "quick_start.py", cwd=work)


def test_the_command_line_comes_from_the_wheel(home: Path) -> None:
    """`stateward --help` works, and the package is the one in the new environment."""
    assert "Usage" in run(str(home / "venv" / "bin" / PACKAGE), "--help", cwd=home)
    found = run(str(home / "venv" / "bin" / "python"), "-c", f"import {PACKAGE}; print({PACKAGE}.__file__)", cwd=home)
    assert Path(found).is_relative_to(home)


def test_a_new_project_comes_from_the_wheel(home: Path) -> None:
    """`stateward new` finds its templates there, all of them, and pip gets the wheel for the project."""
    files = {path.name for path in (ROOT / PACKAGE / "templates").rglob("*.tmpl")}
    packed = {path.name for path in home.glob(f"venv/lib/*/site-packages/{PACKAGE}/templates/**/*.tmpl")}
    assert packed == files
    run(str(home / "venv" / "bin" / PACKAGE), "new", "claims", "--template", "desk", cwd=home)
    assert "STATEWARD ?= " in (home / "claims" / "Makefile").read_text()


def run(*command: str, cwd: Path) -> str:
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout
