"""Turns at a session that somebody runs."""

from __future__ import annotations

import pytest

from stateward.errors import SessionBusy
from stateward.run.store.database import Database
from stateward.run.store.lease import LEASE_TTL_S
from stateward.testing import ManualClock


def test_turns_are_numbered_in_the_order_in_which_they_were_taken(database: Database) -> None:
    """The first is next."""
    first, second = (database.turns.take("s1", limit=2) for _ in range(2))
    assert [database.turns.is_next("s1", no=no) for no in (first, second)] == [True, False]


def test_turn_comes_when_those_before_it_are_given_up(database: Database) -> None:
    """Giving up twice is nothing."""
    first, second = (database.turns.take("s1", limit=2) for _ in range(2))
    for _ in range(2):
        database.turns.leave("s1", no=first)
    assert (database.turns.is_next("s1", no=second), database.turns.waiting("s1")) == (True, 1)


def test_so_many_may_wait_and_no_more(database: Database) -> None:
    """For one session; another has a queue of its own."""
    database.turns.take("s1", limit=1)
    with pytest.raises(SessionBusy, match="1 inputs wait"):
        database.turns.take("s1", limit=1)
    assert database.turns.take("s2", limit=1) == 1


def test_turn_of_who_stalled_is_lost(database: Database, clock: ManualClock) -> None:
    """Whoever waits looks often; a dead one does not."""
    database.turns.take("s1", limit=2)
    second = database.turns.take("s1", limit=2)
    clock.advance(LEASE_TTL_S * 0.6)
    assert not database.turns.is_next("s1", no=second)
    clock.advance(LEASE_TTL_S * 0.6)
    assert (database.turns.is_next("s1", no=second), database.turns.waiting("s1")) == (True, 1)
