"""Traffic: what is known of the calls that were begun, here and before."""

from __future__ import annotations

from stateward.govern.layer import Limit
from stateward.govern.rate import Beginning
from stateward.run.door.traffic import MOST_KEPT, Traffic

RATE = [Limit(unit="calls_per_minute", value=2, scope="", origin="here")]


def call(at: float) -> Beginning:
    return Beginning(kind="tool", path="A", at=at)


def waits(traffic: Traffic, *, now: float, past: list[Beginning], session: str = "s") -> float:
    found = traffic.pause(RATE, session=session, kind="tool", now=now, past=lambda _: past)
    return found.seconds if found else 0.0


def test_calls_of_earlier_calls_of_the_graph_count() -> None:
    """The journal is read once; what begins after that is noted here."""
    traffic = Traffic()
    assert waits(traffic, now=10.0, past=[call(0.0)]) == 0.0
    traffic.began("s", call(10.0))
    assert waits(traffic, now=10.0, past=[]) == 50.0


def test_sessions_have_a_pace_of_their_own() -> None:
    """What one session began holds up no other."""
    traffic = Traffic()
    assert waits(traffic, now=1.0, past=[call(0.0), call(0.5)]) > 0
    assert waits(traffic, now=1.0, past=[], session="other") == 0.0


def test_what_is_old_is_forgotten() -> None:
    """A long run does not keep every call that it made."""
    traffic, past = Traffic(), [call(0.0)] * (MOST_KEPT + 1)
    waits(traffic, now=100.0, past=past)
    assert waits(traffic, now=100.0, past=[]) == 0.0
