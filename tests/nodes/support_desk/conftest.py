"""What the tests of the support desk share: the repository's files, a shop in memory, and the encoder, loaded once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nodes.support_desk.inbox import Row, read_inbox
from nodes.support_desk.shop import Shop
from nodes.support_desk.triage import Triager

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of samples."""
    return ROOT / "samples"


@pytest.fixture(scope="session")
def inbox(samples: Path) -> tuple[Row, ...]:
    """Every message of the sample inbox."""
    return tuple(row for row in read_inbox(samples / "inbox.jsonl") if isinstance(row, Row))


@pytest.fixture(scope="session")
def triager() -> Triager:
    """The triager with the repository's rules and the local encoder."""
    return Triager.open()


@pytest.fixture
def shop() -> Iterator[Shop]:
    """A new shop in memory, with a clock that stands still."""
    with Shop(":memory:", clock=lambda: "2026-03-02T08:00:00Z") as opened:
        yield opened
