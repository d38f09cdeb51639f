"""What becomes of a call that is not let in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stateward.errors import Diverged
from stateward.govern.decision import CallRequest, Deny
from stateward.run.door.activation import Activation
from stateward.run.door.refusing import Refusing, more, refuse_other
from stateward.run.door.report import Report
from stateward.run.door.signal import Trip
from stateward.run.door.waiting import OutOfTime
from stateward.run.store.database import Database
from tests.run.store.desk import entry

REQUEST = CallRequest(kind="tool", name="refund", arguments={"order": "A1"}, path="ACT", declared=frozenset({"refund"}))
LATE = OutOfTime("time", Deny(reason="no time is left", rule="timeouts"))


@pytest.fixture
def refusing(database: Database) -> Refusing:
    return Refusing(Report(database, Activation(session="s", run="r", branch="main", path="ACT", number=1)))


def test_a_denied_call_is_an_observation_and_a_record(refusing: Refusing, database: Database) -> None:
    """Both have the reason."""
    result = refusing.denied(Deny(reason="not here", rule="r"), REQUEST, 3)
    (row,) = database.audit.rows("s")
    assert (result.status, result.call, row.record["event"], row.record["reason"]) == (
        "denied",
        3,
        "denied",
        "not here",
    )


def test_a_fuse_is_a_signal(refusing: Refusing) -> None:
    """It ends the activity."""
    with pytest.raises(Trip):
        refusing.denied(Deny(reason="used up", rule="r", fuse="calls"), REQUEST, 3)


def test_a_call_without_time_is_a_timeout(refusing: Refusing, database: Database) -> None:
    """The record says that it was for the time, which a replay has none of."""
    result = refusing.of_time(LATE, REQUEST, 3)
    (row,) = database.audit.rows("s")
    assert result.status == "timeout"
    assert more(LATE).items() <= row.record.items()


def test_another_call_under_the_same_number_is_a_divergence() -> None:
    """Nobody guesses which of them was meant."""
    refuse_other(None, entry())
    refuse_other(entry(), entry())
    with pytest.raises(Diverged):
        refuse_other(entry(), replace(entry(), fingerprint="f2"))
