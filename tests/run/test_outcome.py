"""Where a session stands, read from the values of a checkpoint."""

from __future__ import annotations

from stateward.run.checkpoint import CHANNEL
from stateward.run.outcome import Sent, outcome_of
from tests.charts.waiting import waiting

CHART = waiting().definition
RUN = {"id": "r", "no": 1, "mode": "", "hashes": {"chart": "", "policy": "", "schema": ""}}


def test_values_without_a_run_are_new() -> None:
    """Nothing was ever started."""
    outcome = outcome_of("s", {}, chart=CHART)
    assert (outcome.status, outcome.path, dict(outcome.values)) == ("new", "", {})


def test_the_control_channel_says_where_it_stands() -> None:
    """It is not among the values."""
    control = {"v": 1, "status": "waiting", "at": ["OPEN"], "run": RUN, "asks": {"OPEN": ["ask_1"]}}
    outcome = outcome_of("s", {"text": "x", CHANNEL: control}, chart=CHART)
    assert (outcome.status, outcome.path, outcome.asks) == ("waiting", "OPEN.ask", ("ask_1",))
    assert dict(outcome.values) == {"text": "x"}


def test_a_run_that_has_ended_asks_nobody() -> None:
    """The checkpoint of a run that failed still knows what one of its regions had asked; it was taken back."""
    control = {"v": 1, "status": "failed", "at": ["OPEN"], "run": RUN, "asks": {"OPEN": ["ask_1"]}}
    outcome = outcome_of("s", {CHANNEL: control}, chart=CHART)
    assert (outcome.status, outcome.path, outcome.asks) == ("failed", "OPEN", ())


def test_what_went_on_at_once_was_taken() -> None:
    """No letter was left for it."""
    assert Sent(outcome=None).taken
