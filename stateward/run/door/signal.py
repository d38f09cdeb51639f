"""How an activity is left before its end, in such a way that no `except` of a user keeps it going.

Two of the signals are no errors, so that no `except Exception` takes them; the door remembers all three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stateward.chart.event import Occurrence
from stateward.errors import Diverged, FuseTripped, RunError
from stateward.govern.decision import CallRequest, Deny, FuseName
from stateward.run.store.ask import Ask
from stateward.run.store.charges import Tripped


class Suspend(BaseException):  # a signal, like CancelledError: see the module docstring
    """A call needs a person: the step commits with the asks and the activity is entered again when they are answered.

    Args:
        asks: The questions, in call order.
    """

    def __init__(self, asks: Sequence[Ask]) -> None:
        self.asks = tuple(asks)
        super().__init__(", ".join(ask.id for ask in asks))


class Trip(BaseException):  # a signal
    """A fuse tripped before a call: the activity ends here and the chart gets the event `fuse.<name>`.

    Args:
        event: What the chart is told.
        ask: Who is asked instead, when the chart does not react to the event.
    """

    def __init__(self, event: Occurrence, *, ask: Ask | None = None) -> None:
        self.event = event
        self.ask = ask
        super().__init__(event.name)


Signal = Suspend | Trip | Diverged
"""What ends an activity; no further call of it is made."""


def strongest(results: Sequence[object]) -> Signal | None:
    """Return what ends an activity after several calls, or None.

    Args:
        results: What the calls came to, in call order.

    Returns:
        What diverged, since no answer can mend it; else the first fuse; else all that people are asked.
    """
    for kind in (Diverged, Trip):
        for result in results:
            if isinstance(result, kind):
                return result
    asks = {ask.id: ask for result in results if isinstance(result, Suspend) for ask in result.asks}
    return Suspend(tuple(asks.values())) if asks else None


def as_error(signal: Suspend | Trip, *, where: str) -> RunError | FuseTripped:
    """Return a signal as the exception that LangChain expects of a model.

    Args:
        signal: Why the call is not made.
        where: The state path.
    """
    if isinstance(signal, Trip):
        return FuseTripped(f"`{signal.event.name}` stands in the way of the call", where=where)
    return RunError(
        "The activity ended when it asked a person; it makes no further calls",
        where=where,
        fix="Let it end; it is entered again when the ask is answered.",
    )


def fuse_event(denial: Deny, request: CallRequest) -> Occurrence:
    """Make the event of a limit that stands in the way of a call.

    Args:
        denial: Why the call may not be made; without a fuse the event is `fuse.policy`.
        request: The call.
    """
    return Occurrence(
        name=f"fuse.{denial.fuse or 'policy'}",
        data={"call": request.name, "reason": denial.reason, "rule": denial.rule, "scope": denial.scope},
    )


def raced(tripped: Tripped) -> Deny:
    """Make the denial of a call whose sibling took the rest of the budget between decision and reservation.

    Args:
        tripped: From the ledger.
    """
    reason = f"`{tripped.unit}` would exceed {tripped.limit:g} in `{tripped.scope or 'the chart'}`"
    fuses: Mapping[str, FuseName] = {"turns": "turns", "tokens": "tokens", "usd": "usd", "calls": "calls"}
    # The count of one tool is no fuse: passing it is an observation, raced or not.
    return Deny(reason=reason, rule=tripped.scope, fuse=fuses.get(tripped.unit), scope=tripped.scope)
