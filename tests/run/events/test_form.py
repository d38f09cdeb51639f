"""The forms of an event outside: JSON that is read again, and LangGraph's parts."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from langchain_core.messages import AIMessageChunk

from stateward.errors import CodecError
from stateward.events import (
    KINDS,
    Answered,
    Asked,
    CallEnded,
    CallStarted,
    Checkpoint,
    Emitted,
    Ended,
    Spent,
    StateEntered,
    StateLeft,
    StreamEvent,
    Token,
    as_part,
    from_json,
    to_json,
)
from stateward.run.store.entry import CallKey

KEY = CallKey(session="s1", run="r1", branch="main", path="A", activation=1, call=2)
EVERY: list[StreamEvent] = [
    StateEntered(seq=1, path="A", activation=1, event="start"),
    StateLeft(seq=2, path="A", event="done"),
    CallStarted(seq=3, path="A", key=KEY, of="tool", name="look", arguments={"order": "A1"}),
    CallEnded(seq=4, path="A", key=KEY, of="tool", name="look", status="ok", duration_s=0.5, result=[1]),
    Spent(seq=5, path="A", key=KEY, of="model", name="voice", usd=0.25, tokens_in=1, tokens_out=2),
    Token(seq=6, path="A", text="tea", key=KEY, name="voice"),
    Token(seq=7, path="A/model", text="tea"),
    Asked(seq=8, path="A", ask="ask_1", question={"id": "ask_1"}),
    Answered(seq=9, path="A", ask="ask_1", status="answered", decision="approve", by="ann"),
    Emitted(seq=10, path="A", data={"said": "tea"}),
    Checkpoint(seq=11, path="A", id="c1", step=3, status="running"),
    Ended(seq=12, path="A.ask", status="waiting", asks=("ask_1",)),
]


@pytest.mark.parametrize("event", EVERY, ids=lambda event: event.kind)
def test_event_is_read_from_its_json(event: StreamEvent) -> None:
    """Through text, and nothing is lost on the way."""
    assert from_json(json.loads(json.dumps(to_json(event)))) == event


def test_every_kind_has_a_form() -> None:
    """None is forgotten here."""
    assert {event.kind for event in EVERY} == set(KINDS)


def test_what_an_activity_emitted_becomes_json() -> None:
    """It may be anything a reader in the same process understands."""
    assert to_json(Emitted(path="A", data=datetime(2026, 1, 2, tzinfo=UTC)))["data"] == "2026-01-02T00:00:00Z"


@pytest.mark.parametrize("told", [{"kind": "nothing"}, {"kind": "token", "seq": 1}, {"kind": "ended", "why": 1}])
def test_json_of_no_event_is_refused(told: dict[str, object]) -> None:
    """What has another shape is no event."""
    with pytest.raises(CodecError, match=r"no kind of event|no event of the kind"):
        from_json(told)


def test_token_is_a_part_of_the_messages() -> None:
    """As LangGraph tells of it."""
    part = as_part(EVERY[5])
    assert (part["type"], part["ns"]) == ("messages", ())
    assert (part["data"][0], part["data"][1]["langgraph_node"]) == (AIMessageChunk(content="tea"), "A")


def test_question_is_an_interrupt() -> None:
    """A client that knows LangGraph's interrupts shows it."""
    (interrupt,) = as_part(EVERY[7])["data"]["__interrupt__"]
    assert (interrupt.id, interrupt.value) == ("ask_1", {"id": "ask_1"})


def test_checkpoint_names_its_config() -> None:
    """With the session's id it can be gone back to."""
    data = as_part(EVERY[10], session="s1")["data"]
    assert data["config"]["configurable"] == {"thread_id": "s1", "checkpoint_ns": "", "checkpoint_id": "c1"}


def test_any_other_event_is_a_custom_part() -> None:
    """Its data is the event's JSON."""
    assert as_part(EVERY[0]) == {"type": "custom", "ns": (), "data": to_json(EVERY[0])}
