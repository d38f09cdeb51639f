"""Proof 6: what its ratio compares."""

from __future__ import annotations

from benchmarks.reliability.load import Taken


def test_a_session_is_its_start_and_its_event_together() -> None:
    """A block that is slow in one half is made good by the other, as it is for who serves sessions."""
    taken = Taken(ours_s=[4.0, 2.0, 1.0, 2.0], bare_s=[4.0, 2.0, 0.0, 0.0], kb=0.0)
    assert taken.ratio == (4 / 5 + 2 / 4) / 2
