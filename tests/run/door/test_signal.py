"""Signals are no errors."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.chart.event import Occurrence
from stateward.errors import Diverged, FuseTripped, RunError
from stateward.govern.decision import CallRequest, Deny
from stateward.run.door.signal import Suspend, Trip, as_error, fuse_event, raced, strongest
from stateward.run.store.charges import Tripped
from tests.run.store.desk import ask


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


@pytest.mark.parametrize(
    ("unit", "fuse"), [("turns", "turns"), ("usd", "usd"), ("calls", "calls"), ("calls:lookup", None)]
)
def test_limit_that_a_sibling_reached_first_is_its_fuse(unit: str, fuse: str | None) -> None:
    """The count of one tool is an observation, raced or not."""
    assert raced(Tripped(scope="A", unit=unit, limit=1, spent=1, asked=1)).fuse == fuse


def test_a_fuse_says_whose_limit_it_is() -> None:
    """Who stands around can tell whether it is theirs."""
    request = CallRequest(kind="tool", name="look", arguments={}, path="A.B", declared=frozenset())
    raced_to = raced(Tripped(scope="A", unit="calls", limit=1, spent=1, asked=1))
    data: Any = fuse_event(raced_to, request).data
    assert data["scope"] == "A"


@pytest.mark.parametrize(("fuse", "name"), [("usd", "fuse.usd"), (None, "fuse.policy")])
def test_fuse_is_an_event(fuse: Any, name: str) -> None:
    """The chart reads which call it stopped, and why."""
    request = CallRequest(kind="model", name="voice", arguments={}, path="A", declared=frozenset())
    event = fuse_event(Deny(reason="too much", rule="r", fuse=fuse), request)
    assert (event.name, event.data) == (name, {"call": "voice", "reason": "too much", "rule": "r", "scope": None})


def test_what_diverged_goes_before_fuses_and_those_before_asks() -> None:
    """No answer mends a divergence; of the rest the first in call order counts, and each ask once."""
    diverged, trip, later = Diverged("d"), Trip(Occurrence(name="fuse.usd")), Trip(Occurrence(name="fuse.calls"))
    one, both = Suspend([ask(1)]), Suspend([ask(1), ask(2)])
    assert strongest([one, trip, diverged]) is diverged
    assert strongest([one, trip, later]) is trip
    assert isinstance(asked := strongest([one, "ok", both]), Suspend)
    assert asked.asks == (ask(1), ask(2))
    assert strongest(["ok", ValueError()]) is None


def test_model_raises_signals_as_errors() -> None:
    """LangChain expects exceptions."""
    assert isinstance(as_error(Trip(Occurrence(name="fuse.usd")), where="A"), FuseTripped)
    assert isinstance(as_error(Suspend([ask(1)]), where="A"), RunError)
