"""The committed form of an update, made without a commit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.types import Overwrite

from stateward.errors import UpdateRefused
from stateward.run.state import StateSchema
from stateward.run.view import View
from tests.charts.one import one


def schema() -> StateSchema:
    return one(lambda state: None).compile().machine.schema


SCHEMA = schema()


def view(**base: Any) -> View:
    return View(SCHEMA, base, "A")


def test_read_of_an_untouched_key_is_the_base() -> None:
    """Nothing is copied that nobody wrote."""
    log = ["a"]
    assert view(log=log)["log"] is log


def test_update_is_taken_in_whole_or_not_at_all() -> None:
    """One wrong value leaves the view as it was."""
    seen = view(text="x")
    with pytest.raises(UpdateRefused):
        seen.apply({"text": "y", "number": "many"})
    assert (seen["text"], seen.commit()) == ("x", [])


def test_base_is_never_changed() -> None:
    """A reducer works on a copy."""
    log = ["a"]
    seen = view(log=log)
    seen.apply({"log": ["b"]})
    assert (seen["log"], log) == (["a", "b"], ["a"])


def test_commit_keeps_every_write_of_a_reducer_and_the_last_of_others() -> None:
    """LangGraph refuses two writes to a plain key in one step."""
    seen = view()
    seen.apply({"log": ["a"], "text": "x"})
    seen.apply({"log": ["b"], "text": "y"})
    assert seen.commit() == [("log", ["a"]), ("log", ["b"]), ("text", "y")]


def test_overwrite_takes_the_place_of_what_was_there() -> None:
    """LangGraph's `Overwrite` passes through, validated."""
    seen = view(log=["a"])
    seen.apply({"log": Overwrite(["z"])})
    assert seen["log"] == ["z"]


def test_missing_key_is_a_key_error() -> None:
    """A key without a value is absent, as in LangGraph's state."""
    seen = view()
    assert "text" not in seen
    with pytest.raises(KeyError):
        seen["text"]


def test_length_counts_each_key_once() -> None:
    """Keys of base and writes together."""
    seen = view(text="x")
    seen.apply({"text": "y", "number": 1})
    assert (len(seen), sorted(seen)) == (2, ["number", "text"])


@given(st.lists(st.lists(st.text(max_size=3), max_size=3), max_size=5), st.lists(st.text(max_size=3), max_size=3))
def test_reduced_value_is_what_the_channel_would_hold(updates: list[list[str]], base: list[str]) -> None:
    """Any sequence of updates gives what one commit of all of them gives."""
    seen = View(SCHEMA, {"log": base}, "A")
    for update in updates:
        seen.apply({"log": update})
    assert seen["log"] == [*base, *(item for update in updates for item in update)]
