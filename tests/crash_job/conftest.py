"""The processes that fork for all tests here: the imports are paid once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crash_job.forks import Zygote


@pytest.fixture(scope="session")
def zygotes() -> Iterator[tuple[Zygote, Zygote]]:
    """Two, which share the work or race each other."""
    with Zygote() as one, Zygote() as other:
        yield one, other
