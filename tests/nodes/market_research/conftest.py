"""The samples as a library, a server over them, and sources that ask it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nodes.market_research.library import Library
from nodes.market_research.serve import SAMPLES, LocalServer
from nodes.market_research.sources import Sources, SourcesConfig


@pytest.fixture(scope="session")
def samples() -> Path:
    """Where the collection lies."""
    return SAMPLES


@pytest.fixture(scope="session")
def library(samples: Path) -> Library:
    """The collection."""
    return Library.read(samples)


@pytest.fixture
def server(library: Library) -> Iterator[LocalServer]:
    """A server at a free port."""
    opened = LocalServer(library)
    yield opened
    opened.close()


@pytest.fixture
def sources(library: Library) -> Sources:
    """Sources that start a server of their own when they are first asked."""
    return Sources(SourcesConfig(), open_local=lambda: LocalServer(library))
