"""The forms of a resume payload, and their one normal form."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.chart.event import Occurrence
from stateward.errors import InputRefused, NotExpected
from stateward.run.resume import (
    Answered,
    Answers,
    Before,
    Happened,
    enveloped,
    known_event,
    occurrence,
    opened,
    read,
)
from stateward.run.verdict import Answer
from tests.charts.waiting import Note, waiting

MACHINE = waiting().compile().machine
ASKS = ("ask_1", "ask_2")


def said(payload: object, *, asks: Any = (), by: str = "") -> Any:
    return read(payload, machine=MACHINE, asks=asks, by=by)


@pytest.mark.parametrize("payload", ["end", {"event": "end"}, {"event": "end", "data": None}])
def test_event_by_name(payload: object) -> None:
    """A word, or a mapping with `event`."""
    assert said(payload) == Happened(event=Occurrence(name="end"))


def test_typed_event_is_validated() -> None:
    """JSON becomes the event's type."""
    assert said({"event": "note", "data": {"text": "a"}}).event.data == Note(text="a")


def test_instance_of_the_event_passes() -> None:
    """Code may send the event itself."""
    assert occurrence("note", Note(text="a"), machine=MACHINE).data == Note(text="a")


@pytest.mark.parametrize("word", ["approve", "reject"])
def test_word_answers_the_only_ask(word: Any) -> None:
    """With one open ask a bare word is its answer."""
    assert said(word, asks=("ask_1",), by="ann") == Answers(answers=(Answer(ask="ask_1", decision=word, by="ann"),))


def test_word_is_an_event_where_nothing_is_asked() -> None:
    """A chart may have an event named `approve`."""
    assert said("approve") == Happened(event=Occurrence(name="approve"))


def test_word_for_several_asks_is_refused() -> None:
    """Nobody guesses which one was meant."""
    with pytest.raises(NotExpected, match="ask_1, ask_2"):
        said("approve", asks=ASKS)


def test_answers_by_ask_keep_note_and_name() -> None:
    """A name beside the answer goes before the one beside all."""
    payload = {"answers": {"ask_2": "reject", "ask_1": {"decision": "approve", "note": "ok", "by": "bob"}}, "by": "ann"}
    assert said(payload, asks=ASKS).answers == (
        Answer(ask="ask_2", decision="reject", by="ann"),
        Answer(ask="ask_1", decision="approve", note="ok", by="bob"),
    )


def test_decisions_are_taken_in_the_order_of_the_asks() -> None:
    """LangChain's form names no ask."""
    payload = {"decisions": [{"type": "approve"}, {"type": "reject", "message": "no"}]}
    assert [(a.ask, a.decision, a.note) for a in said(payload, asks=ASKS, by="ann").answers] == [
        ("ask_1", "approve", ""),
        ("ask_2", "reject", "no"),
    ]


def test_decisions_must_be_as_many_as_the_asks() -> None:
    """One for each."""
    with pytest.raises(NotExpected, match=r"1 answers for 2 open asks.*: ask_1, ask_2"):
        said({"decisions": [{"type": "approve"}]}, asks=ASKS)


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "approve"},
        {"type": "accept", "args": None},
        {"decision": "approve"},
        {"decisions": [{"type": "approve"}]},
        {"decisions": ["approve"]},
        [{"type": "approve"}],
        {"answers": {"ask_1": {"type": "approve"}}},
    ],
)
def test_every_word_for_an_answer_may_name_who_gives_it(payload: Any) -> None:
    """LangChain's, its inbox's and ours, alone, in a list or by ask."""
    assert said(payload, asks=ASKS[:1], by="ann") == Answers(
        answers=(Answer(ask="ask_1", decision="approve", by="ann"),)
    )
    named: Any = {**payload, "by": "bob"} if isinstance(payload, dict) else [{**payload[0], "by": "bob"}]
    assert said(named, asks=ASKS[:1]) == Answers(answers=(Answer(ask="ask_1", decision="approve", by="bob"),))


@pytest.mark.parametrize("payload", ["approve", {"type": "approve"}, {"decisions": [{"type": "approve"}]}])
def test_an_answer_that_names_no_ask_is_to_the_one_that_is_open(payload: Any) -> None:
    """The others were answered before; no client is shown them any more."""
    told = read(payload, machine=MACHINE, asks=ASKS, unanswered=["ask_2"], by="ann")
    assert told == Answers(answers=(Answer(ask="ask_2", decision="approve", by="ann"),))


@pytest.mark.parametrize(("asks", "told"), [((), "nobody is asked"), (ASKS, "ask_1, ask_2")])
def test_one_answer_is_to_one_ask(asks: Any, told: str) -> None:
    """Nobody guesses which one was meant."""
    with pytest.raises(NotExpected, match=told):
        said({"type": "approve"}, asks=asks)


def test_a_value_alone_is_what_is_said_to_a_question() -> None:
    """As it is by its ask."""
    (one,) = said({"value": "blue", "by": "ann"}, asks=("ask_1",)).answers
    assert (one.ask, one.decision, one.value, one.by) == ("ask_1", "respond", "blue", "ann")


def test_asks_answered_in_the_database_are_named() -> None:
    """The form a session façade sends after `claim`."""
    assert said({"answered": ["ask_1"]}, asks=ASKS) == Answered(asks=("ask_1",))


def test_answer_to_another_ask_is_refused() -> None:
    """Only what is open here can be answered."""
    with pytest.raises(NotExpected, match="ask_3"):
        said({"answers": {"ask_3": "approve"}}, asks=ASKS)


@pytest.mark.parametrize("decision", ["edit", None, 1, {"decision": "maybe"}, {"note": "x"}])
def test_unknown_decision_is_refused(decision: Any) -> None:
    """An edit says what to, and other words are none."""
    with pytest.raises(InputRefused, match="ask_1"):
        said({"answers": {"ask_1": decision}}, asks=ASKS)


@pytest.mark.parametrize(
    "payload",
    [
        {"answers": {"ask_1": {"decision": "approve", "sesion": "s2"}}},
        {"answers": {"ask_1": "approve"}, "arguments": {"eur": 1}},
        {"answers": {"ask_1": "approve"}, "decisions": [{"type": "reject"}, {"type": "reject"}]},
        {"decisions": [{"type": "approve", "args": 1}, {"type": "approve"}]},
        {"answered": ["ask_1"], "answers": {"ask_1": "reject"}},
        {"event": "end", "answers": {"ask_1": "reject"}},
        {"event": "end", "dat": 1},
    ],
)
def test_what_nobody_would_read_is_refused(payload: object) -> None:
    """Who misspells a key, or says two things at once, is told so; nothing of it is taken."""
    with pytest.raises(InputRefused, match="takes no"):
        said(payload, asks=ASKS)


@pytest.mark.parametrize("more", [{"by": ["ann"]}, {"by": "a\ud800"}, {"note": 3}, {"note": "\udfff"}, {"tool": 1}])
def test_names_and_notes_are_texts(more: Any) -> None:
    """They are kept and shown."""
    with pytest.raises(InputRefused, match="ask_1"):
        said({"answers": {"ask_1": {"decision": "approve", **more}}}, asks=ASKS)


def test_each_decision_may_name_who_made_it() -> None:
    """As each answer may."""
    payload = {"decisions": [{"type": "approve", "by": "bob"}, {"type": "reject"}], "by": "ann"}
    assert [answer.by for answer in said(payload, asks=ASKS).answers] == ["bob", "ann"]


def test_answers_to_nothing_are_refused() -> None:
    """An answer names its ask."""
    with pytest.raises(InputRefused, match="answers nothing"):
        said({"answers": {}}, asks=ASKS)


@pytest.mark.parametrize(
    "payload",
    [
        7,
        None,
        [],
        {},
        {"decisions": 3},
        {"decisions": ["approve", "x"]},
        {"decisions": {"type": "approve"}},
        {"answered": 3},
    ],
)
def test_unreadable_payload_is_refused(payload: object) -> None:
    """A refusal says which forms there are; it is never a crash."""
    with pytest.raises((InputRefused, NotExpected)):
        said(payload, asks=ASKS)


def test_what_comes_before_travels_with_the_payload() -> None:
    """Admission tells the node up to where it looked; a payload without that is left as it is."""
    before = Before(now=12.5, mail=3)
    for payload in ("go", {"event": "go"}, None):
        assert opened(enveloped(payload, before)) == (payload, before)
        assert opened(enveloped(payload, None)) == (payload, None)


def test_a_caller_cannot_say_what_comes_before() -> None:
    """The form is the house's own: admission does not read it."""
    with pytest.raises(InputRefused):
        said(enveloped("go", Before(now=1e12, mail=99)))


def test_events_of_the_chart_are_known() -> None:
    """By name or prefix, typed data validated; others are refused with those there are."""
    assert known_event(MACHINE, "note", {"text": "a"}).data == Note(text="a")
    with pytest.raises(NotExpected, match="end, input, lock, note, unlock"):
        known_event(MACHINE, "other", None)
    for name in ("after", "after.OPEN.0", "done.state.OPEN"):
        with pytest.raises(NotExpected, match="only the chart itself"):
            known_event(MACHINE, name, None)


def test_values_are_answers_by_ask() -> None:
    """One map may answer questions of all kinds."""
    told = said({"values": {"ask_1": "Rome", "ask_2": False}, "by": "ann"}, asks=ASKS)
    assert [(one.ask, one.decision, one.value, one.by) for one in told.answers] == [
        ("ask_1", "respond", "Rome", "ann"),
        ("ask_2", "respond", False, "ann"),
    ]


def test_a_list_is_what_the_agent_inbox_sends() -> None:
    """In the order of the asks, one for each."""
    told = said([{"type": "accept", "args": None}, {"type": "response", "args": "x"}], asks=ASKS, by="ann")
    assert [(one.decision, one.note) for one in told.answers] == [("approve", ""), ("respond", "x")]
    with pytest.raises(NotExpected, match="1 answers for 2"):
        said([{"type": "accept"}], asks=ASKS)
    with pytest.raises(InputRefused, match="cannot be resumed"):
        said(["accept"], asks=("ask_1",))


@pytest.mark.parametrize("name", ["ask.expired", "ask.reminder"])
def test_news_of_questions_is_the_charts_own(name: str) -> None:
    """Nobody outside says that a question has expired."""
    with pytest.raises(NotExpected, match="only the chart itself"):
        said({"event": name})
