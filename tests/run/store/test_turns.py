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
    assert [database.turns.is_next(place) for place in (first, second)] == [True, False]


def test_turn_comes_when_those_before_it_are_given_up(database: Database) -> None:
    """Giving up twice is nothing."""
    first, second = (database.turns.take("s1", limit=2) for _ in range(2))
    for _ in range(2):
        database.turns.leave(first)
    assert (database.turns.is_next(second), database.turns.waiting("s1")) == (True, 1)


def test_so_many_may_wait_and_no_more(database: Database) -> None:
    """For one session; another has a queue of its own."""
    database.turns.take("s1", limit=1)
    with pytest.raises(SessionBusy, match="1 inputs wait"):
        database.turns.take("s1", limit=1)
    assert database.turns.take("s2", limit=1).no == 1


def test_turn_of_who_stalled_is_lost(database: Database, clock: ManualClock) -> None:
    """Whoever waits looks often; a dead one does not."""
    database.turns.take("s1", limit=2)
    second = database.turns.take("s1", limit=2)
    clock.advance(LEASE_TTL_S * 0.6)
    assert not database.turns.is_next(second)
    clock.advance(LEASE_TTL_S * 0.6)
    assert (database.turns.is_next(second), database.turns.waiting("s1")) == (True, 1)


def test_a_place_that_is_given_up_twice_is_not_the_next_ones(database: Database) -> None:
    """A number is given again; who had it before has nothing to do with it."""
    first = database.turns.take("s1", limit=2)
    database.turns.leave(first)
    assert database.turns.take("s1", limit=2).no == first.no
    database.turns.leave(first)
    assert database.turns.waiting("s1") == 1


def test_who_stalled_until_another_stood_in_its_place_has_none(database: Database, clock: ManualClock) -> None:
    """It is told so, and the other one keeps the place."""
    stalled = database.turns.take("s1", limit=2)
    clock.advance(LEASE_TTL_S * 2)
    other = database.turns.take("s1", limit=2)
    with pytest.raises(SessionBusy, match="was lost"):
        database.turns.is_next(stalled)
    assert (other.no, database.turns.is_next(other)) == (stalled.no, True)


def test_who_stalled_takes_up_its_place_when_nobody_has_it(database: Database, clock: ManualClock) -> None:
    """Nobody came meanwhile: the order is the same."""
    stalled = database.turns.take("s1", limit=2)
    clock.advance(LEASE_TTL_S * 2)
    assert (database.turns.waiting("s1"), database.turns.is_next(stalled), database.turns.waiting("s1")) == (0, True, 1)


def test_a_place_whose_taking_is_tried_again_is_taken_once(database: Database) -> None:
    """The connection was lost under it, and it may have been taken all the same."""
    take = database.turns._take  # pyright: ignore[reportPrivateUsage]  # what is tried again
    first, other, again = take("s1", 2, "me"), take("s1", 2, "other"), take("s1", 2, "me")
    assert (first == again, other.no, database.turns.waiting("s1")) == (True, 2, 2)
