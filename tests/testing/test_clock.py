"""A clock that is moved by hand."""

from __future__ import annotations

from stateward.testing import ManualClock


def test_manual_clock_moves_when_told() -> None:
    """It stands otherwise."""
    clock = ManualClock(5.0)
    clock.advance(2)
    assert (clock.now(), clock.monotonic()) == (7.0, 7.0)
