"""The stopwatch: for how long the scopes of a run have worked.

A scope works while an activity inside it does; activities that work at the same time count once. What it shows is
added up in the ledger, from where it is also known in another process.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock

from stateward.run.door.lanes import Place


@dataclass(slots=True)
class _Hand:
    """One scope."""

    working: int = 0
    """Activities that work."""
    since: float = 0.0
    """Since when that is not added up yet."""
    shown: float = 0.0
    """What was added up and not taken yet, in seconds."""

    def turn(self, now: float) -> None:
        if self.working:
            self.shown += max(0.0, now - self.since)
        self.since = now


class Stopwatch:
    """The stopwatch of the runs of one call of a graph; from any thread."""

    def __init__(self) -> None:
        self._hands: dict[Place, _Hand] = {}
        self._lock = Lock()

    def start(self, run: str, *, scopes: Iterable[str], now: float) -> None:
        """Note that an activity begins.

        Args:
            run: The run.
            scopes: Those around the activity.
            now: The time, by a monotonic clock, in seconds.
        """
        self._move(run, scopes, now, 1)

    def stop(self, run: str, *, scopes: Iterable[str], now: float) -> None:
        """Note that an activity has ended.

        Args:
            run: The run.
            scopes: As when it began.
            now: The time, by a monotonic clock, in seconds.
        """
        self._move(run, scopes, now, -1)

    def _move(self, run: str, scopes: Iterable[str], now: float, by: int) -> None:
        with self._lock:
            for scope in scopes:
                hand = self._hands.setdefault((run, scope), _Hand())
                hand.turn(now)
                hand.working += by

    def take(self, run: str, *, now: float, look: bool = False) -> dict[str, float]:
        """Take what the scopes of a run have worked since it was taken last, in seconds.

        Args:
            run: The run.
            now: The time, by a monotonic clock, in seconds.
            look: Whether it is only looked at, and will be taken later.

        Returns:
            By scope; only where there is something.
        """
        with self._lock:
            found = {scope: _all(hand, now, look=look) for (of, scope), hand in self._hands.items() if of == run}
            return {scope: shown for scope, shown in found.items() if shown}


def _all(hand: _Hand, now: float, *, look: bool) -> float:
    hand.turn(now)
    shown = hand.shown
    hand.shown = shown if look else 0.0
    return shown
