"""What a branch knows of the calls made before it was forked."""

from __future__ import annotations

from dataclasses import replace

from stateward.run.store.database import Database
from stateward.run.store.entry import CallKey, Entry
from stateward.run.store.inheritance import inherit, names_in_use

KEY = CallKey(session="s1", run="r1", branch="main", path="A", activation=1, call=1)


def made(database: Database, key: CallKey = KEY) -> Entry:
    entry = Entry(key=key, kind="model", name="m", fingerprint="f", arguments={"a": 1}, effect="idempotent")
    database.journal.begin(entry)
    return database.journal.settle(key, status="completed", result={"said": "hm"}, tokens_in=3, tokens_out=4)


def test_a_branch_knows_the_result_and_pays_nothing(database: Database) -> None:
    """It is the same call, so it is neither tried nor paid again."""
    entry = made(database)
    inherit(database, [KEY], branch="main.1")
    known = database.journal.get(replace(KEY, branch="main.1"))
    assert known is not None
    assert (known.status, known.result, known.arguments) == (entry.status, entry.result, entry.arguments)
    assert (known.usd, known.tokens_in, known.charges, known.tries) == (0, 0, (), 0)


def test_only_the_calls_that_are_named_are_known(database: Database) -> None:
    """What was called after the fork belongs to the other line."""
    made(database)
    made(database, replace(KEY, call=2))
    inherit(database, [KEY], branch="main.1")
    assert database.journal.get(replace(KEY, branch="main.1", call=2)) is None


def test_a_name_under_which_something_was_called_is_in_use(database: Database) -> None:
    """Also when the checkpoint that should have begun the branch was never written."""
    made(database)
    inherit(database, [KEY], branch="main.1")
    assert names_in_use(database, "s1") == {"main", "main.1"}
    assert names_in_use(database, "s2") == frozenset()
