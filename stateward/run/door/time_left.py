"""How long the calls of an activity may take: no longer than what is around them lets them, less a little.

The little is what the activity needs to end by itself: a call that is cut a moment before everything around it is an
observation, and what was done until then is not lost.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from stateward.run.alarm import Alarm

WRAP_UP_S = 1.0
"""What is kept for the end of the activity at most, in seconds; of shorter limits a tenth."""
LEAST_S = 0.001
"""A call that was let through gets this much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What is left of one limit."""

    seconds: float
    told: str
    """Which limit, for a message."""


class TimeLeft:
    """The time that is left to one activation, by the machine's monotonic clock.

    Args:
        alarm: The outer deadline of the call of the graph; None for none.
    """

    def __init__(self, alarm: Alarm | None = None) -> None:
        self._alarm = alarm
        self._activity: tuple[float, float] | None = None
        self._work: tuple[float, float] | None = None

    def begin(self, timeout_s: float) -> None:
        """Note that the activity begins.

        Args:
            timeout_s: How long it may take, more than 0.
        """
        self._activity = (time.monotonic() + timeout_s, timeout_s)

    @property
    def is_over(self) -> bool:
        """Whether the activity took longer than it may."""
        return self._activity is not None and time.monotonic() > self._activity[0]

    def works_until(self, left_s: float | None, *, now: float) -> None:
        """Note how long the run may still work, as the ledger says.

        Args:
            left_s: Seconds; None for as long as it likes.
            now: The time by the monotonic clock of the database, which measures the work.
        """
        self._work = None if left_s is None else (now + left_s, now)

    def left(self, *, now: float) -> Left | None:
        """Return what is left until the first limit; None when there is none.

        Args:
            now: The time by the monotonic clock of the database.
        """
        found: list[Left] = []
        if self._activity is not None:
            until, whole = self._activity
            found.append(Left(seconds=until - time.monotonic() - _wrap_up(whole), told="the activity"))
        if self._work is not None:
            found.append(Left(seconds=self._work[0] - now, told="the run's working time"))
        if self._alarm is not None and (left_s := self._alarm.left_s) is not None:
            whole = self._alarm.deadline_s or left_s
            found.append(Left(seconds=left_s - _wrap_up(whole), told="the deadline of the call"))
        return min(found, key=lambda left: left.seconds, default=None)

    def limit_s(self, *limits: float | None, now: float) -> float | None:
        """Return how long a call may take; None for as long as it likes.

        Args:
            limits: What tool and policy say, in seconds; None for nothing.
            now: The time by the monotonic clock of the database.
        """
        left = self.left(now=now)
        most = [limit for limit in limits if limit is not None]
        if left is not None:
            most.append(max(LEAST_S, left.seconds))
        return min(most, default=None)


def _wrap_up(whole_s: float) -> float:
    return min(WRAP_UP_S, whole_s / 10)
