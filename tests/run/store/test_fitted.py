"""Answers and their asks: what fits, and what it says."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.errors import InputRefused
from stateward.run.store.ask import Ask, envelope
from stateward.run.store.entry import CallKey
from stateward.run.store.fitted import fitted
from stateward.run.store.given import Given
from stateward.run.store.kind import QUESTIONS

KEY = CallKey(session="s", run="r", branch="main", path="P", activation=1, call=1)
WAYS = {"options": ["train", "car"]}
DAYS = {"properties": {"days": {"type": "integer"}}}
MAYBE_TEXT = {"anyOf": [{"type": "string"}, {"type": "null"}]}
MAYBE_NUMBER = {"type": ["integer", "null"]}
TRIP = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def asked(kind: str, **arguments: Any) -> Ask:
    return Ask.new(key=KEY, kind=kind, tool=kind, arguments=arguments, fingerprint="f", reason="why")


def said(decision: Any = "respond", **rest: Any) -> Given:
    return Given(by="ann", decision=decision, **rest)


@pytest.mark.parametrize(
    ("ask", "given", "value"),
    [
        (asked("ask.choose", **WAYS), said(note=" Train"), "train"),
        (asked("ask.choose", **WAYS), said(value="car"), "car"),
        (asked("ask.choose", options=["approve", "wait"]), said("approve"), "approve"),
        (asked("ask.choose", **WAYS, default="car"), said("approve"), "car"),
        (asked("ask.text"), said(note="Rome"), "Rome"),
        (asked("ask.text", default="Oslo"), said("approve"), "Oslo"),
        (asked("ask.text", schema={"type": "integer"}), said(note="3"), 3),
        (asked("ask.text", schema={"type": "string"}), said(note="3"), "3"),
        (asked("ask.text", schema=TRIP), said(value={"city": "Rome"}), {"city": "Rome"}),
        (asked("ask.edit", value={"a": 1}), said("approve"), {"a": 1}),
        (asked("ask.edit", value={"a": 1}), said("edit", arguments={"a": 2}), {"a": 2}),
        (asked("ask.edit", value="old"), said("edit", arguments={"value": "new"}), "new"),
        (asked("ask.edit", value="old"), said(value="new"), "new"),
        (asked("ask.choose", options=["Approve", "Wait"], default="Wait"), said("approve"), "Approve"),
        (asked("ask.choose", options=["Café", "Bar"]), said(note="cafe\u0301"), "Café"),
        (asked("ask.text", schema=MAYBE_TEXT), said(note="5"), "5"),
        (asked("ask.text", schema={"enum": ["1", "2"]}), said(note="1"), "1"),
        (asked("ask.text", schema=MAYBE_NUMBER), said(note="5"), 5),
        (asked("ask.text", schema=MAYBE_NUMBER), said(), None),
        (asked("ask.edit", value=3, schema=MAYBE_NUMBER), said(), None),
        (asked("ask.edit", value={"days": 1}, schema=DAYS), said("edit", arguments={"days": "2"}), {"days": 2}),
        (asked("ask.edit", value=[1], schema={"type": "array"}), said("edit", arguments={"value": "[2]"}), [2]),
    ],
)
def test_an_answer_says_a_value(ask: Ask, given: Given, value: Any) -> None:
    """However the client put it."""
    assert fitted(ask, given).value == value


@pytest.mark.parametrize(
    ("ask", "given", "why"),
    [
        (asked("ask.choose", **WAYS), said(note="bus"), "Choose `train`, `car`"),
        (asked("ask.choose", **WAYS), said("approve"), "no default"),
        (asked("ask.choose", **WAYS), said("reject"), "Choose"),
        (asked("ask.choose", **WAYS), said(value=3), "Choose"),
        (asked("ask.text"), said(note=" "), "says nothing"),
        (asked("ask.text"), said(value=3), "says nothing"),
        (asked("ask.text"), said("reject", note="no"), "Answer `respond`"),
        (asked("ask.text", schema=TRIP), said(note="Rome"), "does not fit its schema"),
        (asked("ask.text", schema={}), said(value={1}), "cannot be kept"),
        (asked("ask.edit", value={"city": "a"}, schema=TRIP), said("edit", arguments={}), "does not fit its schema"),
        (asked("ask.edit", value=1), said("edit"), "names no value"),
        (asked("ask.edit", value=1), said("reject"), "is `reject`"),
        (asked("ask.approve"), said(value="yes"), "Say True or False"),
        (asked("approve"), said(value="aprove"), "Say True or False"),
        (asked("unknown"), said(value={}), "Say True or False"),
        (asked("ask.approve"), said("reject", value=True), "says `reject` and True"),
        (asked("approve"), said("edit", value=False, arguments={}), "says `edit` and False"),
        (asked("ask.review_call", arguments={"eur": 3}), said("reject", value={"eur": 2}), "says `reject` and"),
        (asked("ask.choose", **WAYS, default="car"), said("approve", value="train"), "says `approve` and"),
        (asked("ask.text", default="Oslo"), said("approve", value="Rome"), "says `approve` and"),
        (asked("ask.edit", value={"a": 1}), said("approve", value={"a": 2}), "says `approve` and"),
        (asked("ask.edit", value={"a": 1}), said("edit", value={"a": 2}, arguments={"a": 3}), "twice"),
        (asked("ask.edit", value=[1]), said("edit", arguments={"valeu": [2]}), "names no value"),
        (asked("ask.edit", value={"a": 1}), said("edit", tool="pay", arguments={"a": 2}), "names the tool `pay`"),
        (asked("ask.text", schema={}), said(value=10**30), "cannot be kept"),
        (asked("ask.text", schema={}), said(value=["\ud800"]), "cannot be kept"),
        (asked("ask.text", schema={}), said(value={1: 2}), "cannot be kept"),
        (asked("ask.text", schema={"type": "object"}), said(note="[" * 100_000), "does not fit its schema"),
        (asked("ask.text", schema={"type": "string"}), said(), "says nothing"),
    ],
)
def test_what_does_not_fit_is_refused(ask: Ask, given: Given, why: str) -> None:
    """The ask stays open."""
    with pytest.raises(InputRefused, match=why):
        fitted(ask, given)


@pytest.mark.parametrize("kind", ["approve", "unknown", "ask.approve", "ask.review_call"])
def test_yes_and_no_are_values_too(kind: str) -> None:
    """One map may answer asks of all kinds."""
    assert [fitted(asked(kind), said(value=value)).decision for value in (True, False)] == ["approve", "reject"]


def test_a_reviewed_call_is_edited_by_its_arguments() -> None:
    """As a value they are all that is needed."""
    edit = fitted(asked("ask.review_call", arguments={"eur": 3}), said(value={"eur": 2}))
    assert (edit.decision, edit.arguments, edit.value) == ("edit", {"eur": 2}, None)


def test_a_schema_that_nobody_could_check_is_left_to_who_asks() -> None:
    """A type may say more than a JSON Schema that is checked here can."""
    ask = asked("ask.text", schema={"type": "string", "format": "date-time"})
    assert fitted(ask, said(note="now")).value == "now"


@pytest.mark.parametrize(
    ("ask", "args", "allowed"),
    [
        (asked("ask.approve", about={"a": 1}), {"a": 1}, ["accept", "respond", "ignore"]),
        (asked("ask.edit", value={"a": 1}), {"a": 1}, ["accept", "edit"]),
        (asked("ask.edit", value="x"), {"value": "x"}, ["accept", "edit"]),
        (asked("ask.choose", **WAYS), {}, ["respond"]),
        (asked("ask.choose", **WAYS, default="car"), {}, ["accept", "respond"]),
        (asked("ask.review_call", arguments={"eur": 3}), {"eur": 3}, ["accept", "edit", "respond", "ignore"]),
    ],
)
def test_a_client_of_langchains_form_is_told_what_it_may_send(ask: Ask, args: Any, allowed: list[str]) -> None:
    """And sees what is asked about as arguments."""
    form = envelope(ask)
    assert (form["action_request"]["args"], form["kind"]) == (args, ask.kind.removeprefix("ask."))
    assert [word for word in ("accept", "edit", "respond", "ignore") if form["config"][f"allow_{word}"]] == allowed


def test_an_ask_about_a_call_says_nothing_of_questions() -> None:
    """Its envelope is as ever."""
    assert {"kind", "options", "schema", "default"}.isdisjoint(envelope(asked("approve", eur=3)))
    assert all(asked(kind).is_question for kind in QUESTIONS)
