"""The outer deadline of a call: when it has come, the chart is told; when the chart does not end, the run is ended.

Unlike the limits of states and calls (`deadline.py`) it bounds everything the call does. It rings twice: first as the
event `fuse.deadline`, which the chart may take to wrap up, and after a grace as the end of the run.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from threading import Timer
from typing import Any, cast

from stateward.errors import InputRefused
from stateward.run.brake import Brake, Halt

EVENT = "fuse.deadline"
LEAST_GRACE_S = 1.0
"""How long a chart that takes the event may go on at least, in seconds; else a tenth of the deadline."""


def checked_deadline(deadline_s: float | None) -> float | None:
    """Check a deadline that a caller gave.

    Args:
        deadline_s: Seconds, or None.

    Returns:
        The seconds, or None.

    Raises:
        InputRefused: It is no finite number above 0.
    """
    if deadline_s is None:
        return None
    given = cast("object", deadline_s)  # a config may hold anything
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not math.isfinite(deadline_s) or deadline_s <= 0:
        raise InputRefused(
            f"The deadline of a call is {deadline_s!r}", where="`deadline`", fix="Give a number of seconds above 0."
        )
    return float(deadline_s)


class Alarm:
    """Rings when the deadline of a call has come.

    Args:
        deadline_s: Seconds from now, above 0; None for a call without one.
        until: When that is, by the monotonic clock, for a call that goes on with an earlier one.
    """

    def __init__(self, deadline_s: float | None, *, until: float | None = None) -> None:
        self.deadline_s = deadline_s
        self.until = until if until is not None or deadline_s is None else time.monotonic() + deadline_s
        """When the deadline has come, by the monotonic clock."""
        self._timer: asyncio.TimerHandle | Timer | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = False

    @property
    def left_s(self) -> float | None:
        """Seconds until the deadline, at least 0; None when there is none."""
        return None if self.until is None else max(0.0, self.until - time.monotonic())

    def start(self, brake: Brake, *, loop: asyncio.AbstractEventLoop | None) -> None:
        """Begin to count.

        Args:
            brake: Of the call.
            loop: The running event loop, when the call is on one; None for a call in a thread.
        """
        left_s = self.left_s
        if left_s is not None and self.deadline_s is not None:
            self._loop = loop
            self._later(left_s, lambda: self._ring(brake))

    def _ring(self, brake: Brake) -> None:
        assert self.deadline_s is not None
        data: dict[str, Any] = {"deadline_s": self.deadline_s}
        brake.pull(Halt(status="halted", event=EVENT, data=data, is_event=True))
        end = Halt(status="halted", event=EVENT, data=data)
        self._later(max(LEAST_GRACE_S, self.deadline_s / 10), lambda: brake.pull(end))

    def _later(self, seconds: float, work: Callable[[], None]) -> None:
        if self._stopped:
            return
        if self._loop is not None:
            self._timer = self._loop.call_later(seconds, work)
            return
        self._timer = timer = Timer(seconds, work)
        timer.daemon = True
        timer.start()

    def stop(self) -> None:
        """Count no more: the call is over."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
