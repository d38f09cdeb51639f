"""Kill this very process at a named point of its way."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from typing import Any

from stateward.run.store.database import Database

BOUNDARIES = {
    "journal": ("begin", "settle", "restart"),
    "asks": ("create", "answer"),
    "leases": ("acquire", "release"),
}


class Killer:
    """Counts how often each point is passed, and ends the process where it is told.

    Args:
        at: Point and count, such as `journal.begin:after#2`; None to live.
    """

    def __init__(self, at: str | None) -> None:
        self.at = at
        self.passed: list[str] = []
        self._counts: Counter[str] = Counter()

    def pass_by(self, point: str) -> None:
        self._counts[point] += 1
        here = f"{point}#{self._counts[point]}"
        self.passed.append(here)
        if here == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """Put a point before and after a function."""

        def watched(*args: Any, **kwargs: Any) -> Any:
            self.pass_by(f"{name}:before")
            done = work(*args, **kwargs)
            self.pass_by(f"{name}:after")
            return done

        return watched

    def watch(self, database: Database, saver: Any) -> None:
        """Put points around everything a run writes."""
        for part, names in BOUNDARIES.items():
            held = getattr(database, part)
            for name in names:
                setattr(held, name, self.around(f"{part}.{name}", getattr(held, name)))
        for name in ("put", "put_writes"):
            setattr(saver, name, self.around(f"saver.{name}", getattr(saver, name)))
