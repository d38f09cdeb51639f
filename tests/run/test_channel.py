"""The control channel: it merges what is written to it, and is stored as plain JSON."""

from __future__ import annotations

import pytest

from stateward.run.channel import ControlChannel
from stateward.run.checkpoint import Pins, start_delta


def test_it_is_empty_before_the_first_run() -> None:
    """A value is there from the beginning."""
    channel = ControlChannel()
    assert (channel.is_available(), channel.get(), channel.checkpoint()) == (True, {}, {})


def test_it_merges_each_delta() -> None:
    """Several of one step count in order; tables are merged key by key."""
    channel = ControlChannel()
    assert channel.update([{"at": ["A"], "entries": {"A": 1}}, {"at": ["B"], "entries": {"B": 1}}])
    assert channel.get() == {"at": ["B"], "entries": {"A": 1, "B": 1}}


def test_what_is_empty_is_not_stored() -> None:
    """A run that waits for nobody and has no timers writes so in none of its checkpoints."""
    channel = ControlChannel()
    channel.update([{"at": [], "asks": {"A": ["1"]}, "event": {"name": "e"}}, {"asks": None, "event": None, "mail": 0}])
    assert channel.get() == {"at": [], "asks": {}, "event": None, "mail": 0}
    assert channel.checkpoint() == {"at": [], "mail": 0}


def test_a_run_is_read_as_it_began() -> None:
    """What was not stored, and what an earlier release stored empty, is there again."""
    pins = Pins(chart="c", policy="p", schema="s", mode="strict")
    channel = ControlChannel()
    channel.update([start_delta(run="r", run_no=1, pins=pins, branch="main")])
    for stored in (channel.checkpoint(), channel.get()):
        assert channel.from_checkpoint(stored).get() == channel.get()


def test_nothing_written_changes_nothing() -> None:
    """LangGraph tells a channel of each step."""
    channel = ControlChannel()
    assert not channel.update([])


@pytest.mark.parametrize("stored", [False, True])
def test_a_copy_goes_its_own_way(stored: bool) -> None:
    """What is written to one is not in the other."""
    channel = ControlChannel()
    channel.update([{"at": ["A"]}])
    other = channel.from_checkpoint(channel.checkpoint()) if stored else channel.copy()
    assert (other, other.get()["at"]) == (channel, ["A"])
    other.update([{"at": ["B"]}])
    assert channel.get() == {"at": ["A"]}
