"""The clock: the one place where the run layer learns what time it is."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What the run layer needs to know about time."""

    def now(self) -> float:
        """Return the wall clock in seconds since the epoch."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never run backwards, for measuring how long something took."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now(self) -> float:
        """Return the machine's wall clock in seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return the machine's monotonic clock in seconds."""
        return time.monotonic()
