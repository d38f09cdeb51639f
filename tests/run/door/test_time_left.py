"""Time left: which limit is the nearest, and what is kept for the end."""

from __future__ import annotations

import pytest

from stateward.run.alarm import Alarm
from stateward.run.door.time_left import TimeLeft


def test_without_limits_there_is_no_end() -> None:
    """A call may take as long as it likes."""
    assert TimeLeft().limit_s(None, now=0.0) is None


def test_the_shortest_limit_of_the_call_counts() -> None:
    """Tool and policy both have a say."""
    assert TimeLeft().limit_s(20.0, None, 3.0, now=0.0) == 3.0


def test_an_activity_keeps_a_tenth_for_its_end() -> None:
    """A call is cut a little before its activity, so that what was done till then is not lost."""
    time = TimeLeft()
    time.begin(5.0)
    left = time.limit_s(None, now=0.0)
    assert left == pytest.approx(4.5, abs=0.3)


def test_of_long_activities_a_second_is_kept() -> None:
    """More than a second is not needed to end."""
    time = TimeLeft()
    time.begin(1000.0)
    assert time.limit_s(None, now=0.0) == pytest.approx(999.0, abs=0.5)


def test_working_time_runs_on_by_the_clock_of_the_database() -> None:
    """What the ledger said of it is less by what has passed since."""
    time = TimeLeft()
    time.works_until(30.0, now=100.0)
    assert time.limit_s(None, now=110.0) == 20.0


def test_the_deadline_of_the_call_counts() -> None:
    """A call ends before its graph has to."""
    left = TimeLeft(Alarm(100.0)).left(now=0.0)
    assert left is not None
    assert (left.told, left.seconds) == ("the deadline of the call", pytest.approx(99.0, abs=0.5))


def test_a_call_that_was_let_through_gets_a_moment() -> None:
    """A limit in time is never 0: nothing could be done within it."""
    time = TimeLeft()
    time.works_until(-5.0, now=0.0)
    assert time.limit_s(None, now=0.0) == 0.001
