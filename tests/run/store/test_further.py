"""When further attempts at model calls were begun."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.run.store.database import Database
from stateward.run.store.entry import CallKey, Entry
from stateward.run.store.further import further_attempts
from stateward.run.store.inheritance import inherit

KEY = CallKey(session="s", run="r", branch="main", path="A", activation=1, call=1)


def attempt(number: int, at: float, outcome: str = "failed") -> dict[str, Any]:
    return {"number": number, "role": "m", "outcome": outcome, "usd": "0", "at": at}


@pytest.fixture
def begun(database: Database) -> Database:
    """A database with a model call under way: two attempts have failed, and a third has begun."""
    database.journal.begin(Entry(key=KEY, kind="model", name="m", fingerprint="f", arguments={}, effect="pure"))
    told = [attempt(1, 10.0), attempt(2, 20.0)]
    database.journal.extend(KEY, progress={"attempts": told, "asking": "m", "at": 30.0})
    return database


def test_the_first_attempt_is_the_call_itself(begun: Database) -> None:
    """It is known by when the call was begun; the one under way counts, whatever becomes of it."""
    assert further_attempts(begun, "s", since=0.0) == [("A", 20.0), ("A", 30.0)]
    assert further_attempts(begun, "s", since=20.0) == [("A", 30.0)]


def test_an_attempt_that_was_not_made_is_none(begun: Database) -> None:
    """Nor is one of which an older version did not say when."""
    told = [attempt(1, 10.0), attempt(2, 20.0, "denied"), attempt(3, 30.0, "ok"), attempt(4, 0.0)]
    begun.journal.settle(KEY, status="completed", result={"attempts": told})
    assert further_attempts(begun, "s", since=0.0) == [("A", 30.0)]


def test_a_branch_that_knows_a_call_has_not_made_it_again(begun: Database) -> None:
    """It was made once."""
    begun.journal.settle(KEY, status="completed", result={"attempts": [attempt(1, 10.0), attempt(2, 20.0, "ok")]})
    inherit(begun, [KEY], branch="other")
    assert further_attempts(begun, "s", since=0.0) == [("A", 20.0)]
