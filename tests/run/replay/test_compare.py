"""What counts as the same: canonical bytes, and ids of the record for messages that say the same."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from stateward.run.replay.compare import adopted, differences, renamed
from stateward.run.store.serializer import StrictSerializer

CONTROL: dict[str, Any] = {"status": "running", "at": ["A"], "last": {"event": "start"}, "entries": {"A": 1}}


def found(recorded: Any, came: Any) -> list[str]:
    serde = StrictSerializer()
    told = differences(serde, recorded=(CONTROL, {"key": recorded}), came=(CONTROL, {"key": came}))
    return [one.what for one in told]


@pytest.mark.parametrize(
    ("recorded", "came"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"x", "y", "z"}, {"z", "y", "x"}),
        ([1, 2], (1, 2)),
        (AIMessage("a", id="lc_run--1"), AIMessage("a", id="lc_run--2")),
    ],
)
def test_what_is_left_open_is_no_difference(recorded: Any, came: Any) -> None:
    """Order of keys and sets, what msgpack does not tell apart, ids that LangChain draws."""
    assert found(recorded, came) == []


@pytest.mark.parametrize(
    ("recorded", "came"),
    [(1, 1.0), (1, True), ([1], [1.0]), ("a", "b"), (None, 0), (AIMessage("a", id="1"), AIMessage("a", id="2"))],
)
def test_other_values_are_a_difference_also_when_python_calls_them_equal(recorded: Any, came: Any) -> None:
    """The bytes that would be stored are compared."""
    assert found(recorded, came) == ["value of `key`"]


def test_the_most_telling_difference_comes_first() -> None:
    """The event, then the transitions, then what follows from them."""
    came = {"status": "failed", "at": ["B"], "last": {"event": "go", "taken": ["A -> B"]}, "entries": {"B": 1}}
    told = differences(StrictSerializer(), recorded=(CONTROL, {"a": 1}), came=(came, {"a": 2}))
    expected = ["event", "transitions", "states", "status", "value of `a`", "control channel, `entries`"]
    assert [one.what for one in told] == expected


def test_what_is_empty_need_not_be_in_the_record() -> None:
    """The control channel stores nothing empty, and earlier releases did."""
    full: dict[str, Any] = {**CONTROL, "asks": {}, "event": None}
    for recorded, came in ((CONTROL, full), (full, CONTROL)):
        assert differences(StrictSerializer(), recorded=(recorded, {}), came=(came, {})) == ()


def test_moment_of_a_step_is_not_missed_in_older_records() -> None:
    """Records of earlier releases do not have it."""
    came = {**CONTROL, "last": {"event": "start", "now": 5.0}}
    assert differences(StrictSerializer(), recorded=(CONTROL, {}), came=(came, {})) == ()


def test_messages_that_say_the_same_get_the_recorded_ids_in_order() -> None:
    """Two of the same words take two ids; one that says something else keeps its own."""
    before = [HumanMessage("hi", id="0")]
    recorded = [*before, AIMessage("a", id="r1"), AIMessage("a", id="r2")]
    new = [AIMessage("a", id="n1"), AIMessage("a", id="n2"), AIMessage("b", id="n3")]
    ids = adopted([("messages", new)], recorded={"messages": recorded}, before={"messages": before})
    assert ids == {"n1": "r1", "n2": "r2"}
    assert [message.id for message in renamed(new, ids)] == ["r1", "r2", "n3"]
