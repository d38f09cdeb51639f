"""Tests of the store run over every kind of database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from stateward.run.store.database import Database, open_database
from tests.postgres import Server
from tests.run.store.desk import Fresh, StillClock


@pytest.fixture(params=["memory", "postgresql"])
def backend(request: pytest.FixtureRequest) -> str:
    """Both kinds of database."""
    return request.param


@pytest.fixture
def fresh(backend: str, request: pytest.FixtureRequest) -> Iterator[Fresh]:
    """Open fresh databases, which are closed when the test ends."""
    with ExitStack() as opened:

        def make(clock: StillClock | None = None) -> Database:
            server: Server | None = request.getfixturevalue("postgres") if backend == "postgresql" else None
            url = server.url() if server else "memory:"
            return opened.enter_context(open_database(url, clock=clock or StillClock()))

        yield make
