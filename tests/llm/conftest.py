"""One local model for all tests, and before it an endpoint of the test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.llm.llama import Llama
from tests.llm.shim import Shim


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Llama]:
    """A server with the model, started once."""
    server = Llama(tmp_path_factory.mktemp("llama") / "server.log")
    yield server
    server.stop()


@pytest.fixture
def shim(llama: Llama) -> Iterator[Shim]:
    """An endpoint that nobody has asked yet."""
    endpoint = Shim(llama.address)
    yield endpoint
    endpoint.close()
