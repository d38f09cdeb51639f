"""The machine's clock."""

from __future__ import annotations

import time

from stateward.run.store.clock import SystemClock


def test_the_system_clock_tells_the_machines_time() -> None:
    """Both readings lie between two of the machine's own."""
    clock = SystemClock()
    assert time.time() - 5 < clock.now() < time.time() + 5
    assert time.monotonic() - 5 < clock.monotonic() <= time.monotonic()
