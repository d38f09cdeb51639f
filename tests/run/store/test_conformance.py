"""LangGraph's own conformance suite, over every database, in clear and encrypted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.report import CapabilityReport

from stateward.run.store.database import open_database
from tests.postgres import Server

KEYS = {"k1": b"1" * 32}


def report(url: Callable[[], str], *, keys: dict[str, bytes] | None) -> CapabilityReport:
    """Run the suite; each of its parts opens a fresh database."""

    @checkpointer_test(name="stateward")
    async def saver() -> AsyncGenerator[BaseCheckpointSaver[Any]]:
        with open_database(url(), keys=keys) as database:
            yield database.saver

    return asyncio.run(validate(saver))


@pytest.mark.parametrize("keys", [None, KEYS], ids=["clear", "encrypted"])
@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgresql"])
def test_the_saver_passes_langgraphs_suite(
    kind: str, keys: dict[str, bytes] | None, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Every capability it has."""
    numbers = iter(range(100))
    server: Server | None = request.getfixturevalue("postgres") if kind == "postgresql" else None
    places = {"memory": lambda: "memory:", "sqlite": lambda: f"sqlite:///{tmp_path / f'{next(numbers)}.db'}"}
    found = report(server.url if server else places[kind], keys=keys)
    failed = {name: result.failures for name, result in found.results.items() if result.detected and not result.passed}
    assert failed == {}
