"""Who hears a call: nothing before a node has begun, a settled question once, and what is inside under its path."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stateward.run.events.event import Emitted, StreamEvent
from stateward.run.events.listener import LISTEN, Heard, Listener, listening
from stateward.run.store.ask import Ask


def opened() -> tuple[Listener, list[StreamEvent]]:
    came = list[StreamEvent]()
    listener = Listener()

    def write(part: Heard) -> None:
        came.append(part.event)

    listener.begins("__rest__", {}, write)
    return listener, came


def test_only_a_call_that_says_so_is_heard() -> None:
    """By a key of its config."""
    assert listening({"configurable": {}}) is None
    assert listening({"configurable": {LISTEN: True}}) is not None


def test_before_a_node_has_begun_there_is_nobody_to_tell() -> None:
    """Then nothing is kept either."""
    Listener().tell(Emitted(data=1))


def test_what_is_inside_is_told_under_the_path_around() -> None:
    """To any depth."""
    listener, came = opened()
    listener.inside("A").inside("B").tell(Emitted(path="C", data=1))
    listener.inside("").tell(Emitted(path="C", data=1))
    assert [event.path for event in came] == ["A/B/C", "C"]


def test_settled_question_is_told_once() -> None:
    """However often it is looked at while another one is open."""
    listener, came = opened()
    ask = Ask(
        id="ask_1", session="s", run="r", branch="main", path="A", activation=1, call=1, kind="approval", tool="mail",
        arguments={}, fingerprint="", reason="", created_at=0.0,
    )  # fmt: skip
    listener.answered([ask])
    listener.answered([replace(ask, status="answered", decision="approve", by="ann")] * 2)
    assert [(event.kind, event.path) for event in came] == [("answered", "A")]


def test_a_loop_that_is_closed_is_no_error() -> None:
    """A thread may go on after its reader has left."""

    def closed(_: Any) -> None:
        raise RuntimeError("Event loop is closed")

    listener = Listener()
    listener.begins("__rest__", {}, closed)
    listener.tell(Emitted(data=1))
