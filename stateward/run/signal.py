"""How an activity is left before its end: not an error, so that no `except Exception` of a user swallows it."""

from __future__ import annotations

from collections.abc import Sequence

from stateward.chart.event import Occurrence
from stateward.run.ask import Ask


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
