"""Signals are no errors."""

from __future__ import annotations

from stateward.chart.event import Occurrence
from stateward.run.signal import Suspend, Trip
from tests.run.store import ask


def test_signals_pass_every_except_exception() -> None:
    """An author's `except Exception` does not see them."""
    assert not issubclass(Suspend, Exception)
    assert not issubclass(Trip, Exception)


def test_signals_carry_what_the_node_needs() -> None:
    """The asks in call order; the event, and who is asked otherwise."""
    first, second = ask(1), ask(2)
    assert Suspend([first, second]).asks == (first, second)
    trip = Trip(Occurrence(name="fuse.calls"), ask=first)
    assert (trip.event.name, trip.ask, str(trip)) == ("fuse.calls", first, "fuse.calls")
