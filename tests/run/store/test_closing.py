"""How a call ended, and what its entry says then."""

from __future__ import annotations

import pytest

from stateward.errors import CheckpointError
from stateward.run.store.charges import Charge
from stateward.run.store.closing import Ending, closed, opened
from stateward.run.store.entry import begun
from tests.run.store.desk import entry, key

STARTED = begun(entry(), charges=(Charge(scope="", unit="usd", billionths=500_000_000),), now=1.0)


def test_a_closed_entry_keeps_what_the_call_was() -> None:
    """Only how it ended is new."""
    ending = Ending("completed", {"ok": 1}, None, {"usd": 0.25}, 3, 4)
    now = closed(STARTED, ending, now=2.0)
    assert (now.key, now.name, now.arguments, now.started_at) == (key(), "refund", STARTED.arguments, 1.0)
    assert (now.status, now.result, now.usd, now.tokens_in, now.ended_at) == ("completed", {"ok": 1}, 0.25, 3, 2.0)


def test_what_was_spent_beyond_the_reservation_is_told() -> None:
    """By unit."""
    assert closed(STARTED, Ending("failed", None, "x", {"usd": 0.75}, 0, 0), now=2.0).overrun == {"usd": 0.25}


def test_a_closed_call_is_not_opened() -> None:
    """Its end is for good."""
    done = closed(STARTED, Ending("completed", 1, None, {}, 0, 0), now=2.0)
    with pytest.raises(CheckpointError, match="never opened again"):
        opened(done, key())
