"""The working time of one activation: it is measured while the activity works, and kept in the ledger."""

from __future__ import annotations

from stateward.chart.event import Occurrence
from stateward.govern.checks.runtime import RUNTIME, left_s, runtimes, used_up
from stateward.govern.effective import Effective
from stateward.govern.request import Spent
from stateward.run.door.activation import Activation
from stateward.run.door.report import Report
from stateward.run.door.script import Script
from stateward.run.door.stopwatch import Stopwatch
from stateward.run.door.waiting import TIMED
from stateward.run.store.database import Database


class Working:
    """Measures for how long the scopes around an activation work that have a limit.

    Args:
        database: Ledger, audit log and clock.
        activation: Whose work it is.
        effective: The folded policy of the state.
        fence: The session's fencing token, or None when nothing is leased.
        stopwatch: Of the call of the graph.
        script: In a replay, how the record went: nothing is measured then.
    """

    def __init__(
        self,
        *,
        database: Database,
        activation: Activation,
        effective: Effective,
        fence: int | None,
        stopwatch: Stopwatch,
        script: Script | None = None,
    ) -> None:
        self._database = database
        self._activation = activation
        self._effective = effective
        self._fence = fence
        self._stopwatch = stopwatch
        self._script = script
        self._scopes = measured(effective) if script is None else ()

    @property
    def is_measured(self) -> bool:
        """Whether anything limits the time of this activation's work."""
        return bool(self._scopes)

    def begin(self) -> Occurrence | None:
        """Begin to measure, unless the time is used up; blocking.

        Returns:
            The event for the chart when the activity may not begin; else None.
        """
        at = self._activation
        self.keep()
        denied = None
        if self._script is not None:
            denied = self._script.of_time(at.key(0), RUNTIME)
        elif self._scopes:
            ledger = self._database.ledger
            spent, raised = ledger.spent(at.session, run=at.run), ledger.raised(at.session, run=at.run)
            denied = used_up(self._effective, spent=spent, raised=raised)
        if denied is not None:
            more = {TIMED: RUNTIME, "rule": denied.rule}
            Report(self._database, at).write("fuse", at.path, {}, denied.reason, 0, more=more)
            return Occurrence(
                name=f"fuse.{RUNTIME}", data={"state": at.path, "reason": denied.reason, "rule": denied.rule}
            )
        self._stopwatch.start(at.run, scopes=self._scopes, now=self._now())
        return None

    def end(self) -> None:
        """Measure no more: the activity has ended."""
        self._stopwatch.stop(self._activation.run, scopes=self._scopes, now=self._now())

    def keep(self) -> None:
        """Add what was measured to the ledger; blocking."""
        at = self._activation
        if not self._scopes:
            return
        worked = self._stopwatch.take(at.run, now=self._now())
        amounts = {(scope, RUNTIME): seconds for scope, seconds in worked.items()}
        if amounts:
            self._database.ledger.spend(at.session, at.run, amounts, fence=self._fence)

    def unkept(self) -> dict[str, float]:
        """Return what was measured and is not in the ledger yet, in seconds by scope."""
        return self._stopwatch.take(self._activation.run, now=self._now(), look=True) if self._scopes else {}

    def left_s(self, *, spent: Spent, raised: Spent) -> float | None:
        """Say how long the activity may still work; None when nothing limits it.

        Args:
            spent: What the ledger says, after `keep`.
            raised: Limits that a person has set anew for this run.
        """
        return left_s(self._effective, spent=spent, raised=raised) if self._scopes else None

    def _now(self) -> float:
        return self._database.clock.monotonic()


def measured(effective: Effective) -> tuple[str, ...]:
    """List the scopes of a state whose working time has a limit, be it one that only observes.

    Args:
        effective: The folded policy of the state.
    """
    limits = (*runtimes(effective), *(runtimes(effective.trial) if effective.trial else ()))
    return tuple(dict.fromkeys(limit.scope for limit in limits))
