"""What tests of runs share: both ways to run, a clock that is moved by hand, and a database in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from stateward.run.graph import ChartGraph
from stateward.run.store.database import Database
from stateward.testing import How, ManualClock
from tests.charts.drive import Driven
from tests.postgres import Server, serving

BACKENDS = ("memory", "sqlite", "postgresql")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the whole suite run over another database."""
    parser.addoption("--backend", choices=BACKENDS, default="memory", help="the database of the tests")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server for the whole run."""
    with serving() as server:
        yield server


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> str:
    """The database of the test; `--backend` chooses it."""
    return str(request.config.getoption("--backend"))


@pytest.fixture
def url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a fresh database."""
    if backend == "postgresql":
        return request.getfixturevalue("postgres").url()
    return "memory:" if backend == "memory" else f"sqlite:///{tmp_path / 'backend.db'}"


@pytest.fixture(params=["sync", "async"])
def how(request: pytest.FixtureRequest) -> How:
    """Both ways: through `invoke` and through `ainvoke`."""
    return request.param


@pytest.fixture
def clock() -> ManualClock:
    """A clock that stands until a test moves it."""
    return ManualClock()


@pytest.fixture
def database(url: str, clock: ManualClock) -> Iterator[Database]:
    """A fresh database, in memory unless the test or `--backend` says otherwise."""
    with sw.open(url, clock=clock) as opened:
        yield opened


@pytest.fixture
def drive(how: How, database: Database) -> Callable[..., Driven]:
    """Drive a chart's session in the test's database, the test's way."""

    def make(graph: ChartGraph, *, session: str = "s1", context: Any = None) -> Driven:
        attached = graph.attach(database)
        return Driven(sw.Session(session, attached, database, context=context), how)

    return make


@pytest.fixture
def start(how: How) -> Callable[..., Any]:
    """Start a session the test's way."""

    def run(session: sw.Session, given: Any = None) -> Any:
        return session.start(given or {}) if how == "sync" else asyncio.run(session.astart(given or {}))

    return run


@pytest.fixture(params=["compiled", "copied", "configured"])
def formed(request: pytest.FixtureRequest) -> Callable[[ChartGraph], ChartGraph]:
    """A compiled graph in each form LangGraph may hand it on: as it is, copied, and with a config bound."""
    forms: dict[str, Callable[[ChartGraph], ChartGraph]] = {
        "compiled": lambda graph: graph,
        "copied": lambda graph: graph.copy(),
        "configured": lambda graph: graph.with_config(tags=["t"]),
    }
    return forms[request.param]
