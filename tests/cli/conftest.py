"""The command line in this process, on the toy project beside this file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import stateward as sw
from stateward.cli.app import build_app
from stateward.cli.loading import load
from stateward.run.store.database import Database
from stateward.testing import ManualClock

PROJECT = Path(__file__).parent / "project"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """A user in a folder with a project."""

    url: str
    shop: Path
    folder: Path
    run: Callable[..., Result]

    def json(self, *words: str, code: int = 0) -> Any:
        """Run a command with --json and read what it printed."""
        result = self.run(*words, "--json")
        assert result.exit_code == code, result.stderr
        return json.loads(result.stdout)

    def inbox(self, *lines: dict[str, str] | str) -> str:
        """Write an inbox."""
        file = self.folder / "inbox.jsonl"
        file.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines))
        return str(file)

    def effects(self, name: str) -> int:
        """Count what a tool did."""
        with closing(sqlite3.connect(self.shop)) as shop:
            shop.execute("CREATE TABLE IF NOT EXISTS effects (key TEXT, name TEXT)")
            return shop.execute("SELECT COUNT(*) FROM effects WHERE name = ?", (name,)).fetchone()[0]

    def interrupt(self, session: str, *, text: str = "hello") -> None:
        """Leave a session in the middle, as a killed process would."""
        with sw.open(self.url) as database:
            graph = load("toy_desk").graph.attach(database)
            config = {"configurable": {"thread_id": session}}
            graph.invoke({"message": "m1", "text": text}, config, interrupt_before=["WORKING.CLOSE"])

    def nap(self, session: str) -> None:
        """Let a session nap long ago, so that its time has come."""
        with sw.open(self.url, clock=ManualClock()) as database:
            sw.Session(session, load("toy_nap").graph.attach(database), database).start({"log": ["in"]})

    def ask(self, session: str) -> None:
        """Let a session ask long ago, so that its question has expired."""
        with sw.open(self.url, clock=ManualClock()) as database:
            graph = load("toy_desk", overrides=("policy.tools.rules[2].expires_s=5",)).graph.attach(database)
            sw.Session(session, graph, database).start({"message": "m2", "text": "please refund 3"})


@pytest.fixture
def backend(backend: str) -> str:
    """The database of the test; the next command finds nothing in memory."""
    return "sqlite" if backend == "memory" else backend


@pytest.fixture
def shell(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell with an empty database."""
    monkeypatch.chdir(PROJECT)
    monkeypatch.syspath_prepend(str(PROJECT))
    monkeypatch.setenv("STATEWARD_DB", url)
    monkeypatch.setenv("TOY_EFFECTS", str(tmp_path / "effects.db"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("STATEWARD_DEBUG", raising=False)
    app, runner = build_app(), CliRunner()
    return Shell(
        url=url, shop=tmp_path / "effects.db", folder=tmp_path, run=lambda *words: runner.invoke(app, list(words))
    )


@pytest.fixture
def database(shell: Shell) -> Iterator[Database]:
    """The shell's database, as another process sees it."""
    with sw.open(shell.url) as opened:
        yield opened
