"""`stateward new`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from stateward.cli.app import build_app
from stateward.cli.project import TEMPLATES

BIN = Path(sys.executable).parent
STAMPS = (".python", ".stateward", ".run", ".dev")
LONG = "a" * 40


@pytest.fixture
def new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """The command, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(build_app(), ["new", *words])


def test_it_makes_a_project_and_says_how_to_go_on(new, tmp_path):
    """The files on stdout, the next command on stderr."""
    result: Result = new("claims", "--template", "desk")
    assert (result.exit_code, "claims/graphs/claims.py" in result.stdout.splitlines()) == (0, True)
    assert "cd claims && make test && make run" in result.stderr
    assert (tmp_path / "claims" / "langgraph.json").is_file()


def test_it_makes_the_folder_where_one_says(new, tmp_path):
    """And tells the way there."""
    (tmp_path / "my projects").mkdir()
    result: Result = new("claims", "--in", "my projects")
    assert (tmp_path / "my projects" / "claims" / "Makefile").is_file()
    assert "cd 'my projects/claims' && make test" in result.stderr


def test_a_folder_that_is_not_there_is_told(new, tmp_path):
    """It is not made along the way."""
    result: Result = new("claims", "--in", "nowhere")
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "No such file or directory" in result.stderr


def test_an_agent_is_what_it_makes_by_default(new):
    """The smallest of them."""
    assert json.loads(new("claims", "--json").stdout)["template"] == "react"


def test_json_tells_what_was_made(new, tmp_path):
    """Where, and each file."""
    told = json.loads(new("claims", "--template", "team", "--json").stdout)
    assert (told["name"], told["template"], told["folder"]) == ("claims", "team", str(tmp_path / "claims"))
    assert {"Makefile", "graphs/claims.py", "policies/claims.yaml"} <= set(told["files"])


def test_a_refusal_says_what_to_do_and_makes_nothing(new, tmp_path):
    """With the exit code of what is refused."""
    result: Result = new("my-agent")
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "Such as `my_agent`." in result.stderr


def test_help_tells_the_templates(new):
    """Each with what it is."""
    shown = " ".join(new("--help").stdout.split())
    assert [name for name, what in TEMPLATES.items() if f"{name} {what}" not in shown] == []


@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_project_passes_its_own_check(new, template, tmp_path):
    """`make check`: format, lint, types, tests, and the proofs over the chart."""
    new("claims", "--template", template)
    shown = make("check", folder=tmp_path / "claims")
    assert (" passed" in shown, " failed" in shown, "0 errors, 0 warnings" in shown) == (True, False, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("template", "status", "said"),
    [
        ("react", "completed", "Tomatoes want six hours of sun"),
        ("team", "completed", "# How much sun do tomatoes want?"),
        ("desk", "waiting", "You charged me twice"),
    ],
)
def test_a_project_runs_without_key_or_server(new, template, status, said, tmp_path):
    """`make run`, found through its langgraph.json."""
    new("claims", "--template", template)
    told = json.loads(make("--silent", "run", folder=tmp_path / "claims"))
    assert told["status"] == status
    assert any(said in message["content"] for message in told["values"]["messages"])


@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("name", ["a", LONG])
def test_a_project_is_formatted_whatever_its_name(new, name, template, tmp_path):
    """The shortest and the longest."""
    new(name, "--template", template)
    folder = tmp_path / name
    run(str(BIN / "ruff"), "format", "--check", ".", folder=folder)
    run(str(BIN / "ruff"), "check", ".", folder=folder)


@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATES)
def test_the_notebook_of_a_project_runs(new, template, tmp_path):
    """`make notebooks`, from top to bottom."""
    new("claims", "--template", template)
    make("notebooks", folder=tmp_path / "claims")
    book = json.loads((tmp_path / "claims" / "notebooks" / "01_claims.ipynb").read_text())
    assert "stateDiagram" in json.dumps(book["cells"][2]["outputs"])


def make(*words: str, folder: Path) -> str:
    """Run a target with what is installed here: its stamps say that nothing is left to install."""
    (folder / ".venv").mkdir()
    for stamp in STAMPS:
        (folder / ".venv" / stamp).touch()
    return run("make", *words, f"BIN={BIN}", folder=folder)


def run(*command: str, folder: Path) -> str:
    # The database is the project's own, and `make` is nobody's child.
    env = {name: value for name, value in os.environ.items() if not name.startswith(("STATEWARD_", "MAKE", "MFLAGS"))}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout
