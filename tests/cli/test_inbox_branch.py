"""Which branch an answer on the command line is for."""

from __future__ import annotations

import pytest

import stateward as sw
from stateward.cli.inbox_branch import expect, is_beside, turn
from stateward.errors import NotExpected
from stateward.run.store.ask import Ask
from stateward.run.store.database import Database
from stateward.run.travel import Timeline
from tests.charts.refunds import asking
from tests.charts.tools import Shop

Left = tuple[sw.Session, Ask, Ask]


@pytest.fixture
def left(database: Database) -> Left:
    """A session that was forked where it waited: the ask of `main`, which it has left, and that of `other`."""
    session = sw.Session("s1", asking(Shop()).attach(database), database)
    (first,) = session.start({"log": []}).asks
    Timeline(session.graph, database=database, session="s1").fork(1, name="other")
    (second,) = session.outcome().asks
    return session, database.asks.get(first), database.asks.get(second)


@pytest.mark.parametrize(("branch", "told"), [(None, "is on branch `other`"), ("other", "not on `other`")])
def test_the_branch_of_the_ask_must_be_named_when_it_was_left(left: Left, branch: str | None, told: str) -> None:
    """Its own, and no other."""
    session, first, _ = left
    with pytest.raises(NotExpected, match=told):
        expect(session, first, branch)
    expect(session, first, "main")


def test_an_ask_of_the_present_branch_needs_no_name(left: Left) -> None:
    """It may be given."""
    session, _, second = left
    for branch in (None, "other"):
        expect(session, second, branch)


@pytest.mark.parametrize("which", [1, 2])
def test_the_session_turns_to_the_branch_of_the_ask(left: Left, which: int) -> None:
    """It stays where it is when that is its own."""
    session, ask = left[0], (left[1], left[2])[which - 1]
    turn(session, ask)
    assert session.outcome().asks == (ask.id,)


def test_only_asks_of_one_branch_hold_an_activity_up(left: Left) -> None:
    """The same state of another branch is another activity."""
    _, first, second = left
    assert (is_beside(first, first), is_beside(first, second)) == (True, False)
