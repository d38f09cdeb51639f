"""A clock that is moved by hand."""

from __future__ import annotations


class ManualClock:
    """A clock that stands until it is moved.

    Args:
        start_s: Seconds since the epoch where it begins.
    """

    def __init__(self, start_s: float = 1_000_000.0) -> None:
        self._now = start_s

    def now(self) -> float:
        """Return the time in seconds since the epoch."""
        return self._now

    def monotonic(self) -> float:
        """Return the same time; it never goes back."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock forward.

        Args:
            seconds: How far, ≥ 0.
        """
        self._now += seconds
