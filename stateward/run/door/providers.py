"""What a process knows of the providers of its models, and how it waits for them."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

from stateward.run.door.breaker import Breakers
from stateward.run.store.clock import Clock

_SLICE_S = 0.05
"""How long a thread sleeps before it looks whether it still has to."""


class Providers:
    """The providers, as the sessions of one database in this process see them.

    Args:
        clock: What time it is.
    """

    def __init__(self, *, clock: Clock) -> None:
        self.clock = clock
        self.breakers = Breakers(now=clock.monotonic)
        self.chance: Callable[[], float] = random.random
        """Draws a number from 0 to 1, for the jitter of a wait."""
        self.pause: Callable[[float, Callable[[], None]], None] = _paused
        """Waits so many seconds in a thread; what it is given raises when nobody waits for it any more."""
        self.apause: Callable[[float], Awaitable[None]] = asyncio.sleep
        """Waits so many seconds on the loop."""


def _paused(seconds: float, check: Callable[[], None]) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, _SLICE_S))
        check()
