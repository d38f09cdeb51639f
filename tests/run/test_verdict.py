"""One answer, as a client sends it: nothing of it is dropped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stateward.errors import InputRefused, NotExpected
from stateward.run.store.ask import Ask
from stateward.run.store.entry import CallKey
from stateward.run.verdict import Answer, from_langchain, read_answer, refuse_other_call

SHOWN = {"order": "A", "eur": 3, "who": {"b": [1, True], "a": None}}


def read(value: object, *, by: str = "", stated: str = "") -> Answer:
    return read_answer("ask_1", value, asks=["ask_1"], by=by, stated=stated)


def ask(arguments: Any = SHOWN) -> Ask:
    key = CallKey(session="s1", run="run_1", branch="main", path="A", activation=1, call=0)
    return Ask.new(key=key, kind="approve", tool="refund", arguments=arguments, fingerprint="f", reason="")


def test_who_the_host_says_answers_stands_above_what_is_said() -> None:
    """Then who the answer names, then who is named beside all."""
    said = {"decision": "approve", "by": "bob"}
    assert [read(said, by="ann", stated="cy").by, read(said, stated="cy").by, read("approve", stated="cy").by] == [
        "ann",
        "bob",
        "cy",
    ]


@pytest.mark.parametrize("decision", ["edit", "respond"])
def test_an_answer_that_would_change_the_call_is_refused(decision: str) -> None:
    """It says what to do instead."""
    with pytest.raises(InputRefused, match="answer `reject`"):
        read({"decision": decision, "arguments": {"eur": 1}})


@pytest.mark.parametrize("key", ["args", "sesion", "Decision", "a\ud800", 3])
def test_a_key_that_nobody_reads_is_refused(key: Any) -> None:
    """Whoever wrote it meant something by it."""
    with pytest.raises(InputRefused, match="takes no"):
        read({"decision": "approve", key: "x"})


def test_an_ask_that_is_not_open_is_not_answered() -> None:
    """Those that are, are named."""
    with pytest.raises(NotExpected, match="Open asks: ask_1"):
        read_answer("ask_2", "approve", asks=["ask_1"], by="ann")


def test_the_words_of_langchain_are_those_of_an_answer() -> None:
    """Whatever else is said stays, to be refused by its name."""
    assert from_langchain({"type": "reject", "message": "no", "args": 1}) == {
        "decision": "reject",
        "note": "no",
        "args": 1,
    }


@pytest.mark.parametrize("meant", [None, SHOWN, {**SHOWN, "eur": 3.0}, dict(reversed(SHOWN.items()))])
def test_an_answer_may_mean_the_call_that_was_shown(meant: Any) -> None:
    """The order of the keys and the form of a number do not matter."""
    refuse_other_call(replace(read("approve"), tool="refund", arguments=meant), ask())


@pytest.mark.parametrize(
    "meant",
    [
        {},
        {"eur": 3},
        {**SHOWN, "eur": "3"},
        {**SHOWN, "eur": True},
        {**SHOWN, "more": None},
        {**SHOWN, "who": {"b": [1, 1], "a": None}},
        {**SHOWN, "eur": {3}},
        [],
        "refund",
    ],
)
def test_an_answer_that_means_another_call_is_refused(meant: Any) -> None:
    """Every argument counts, with its type."""
    with pytest.raises(InputRefused, match="another call"):
        refuse_other_call(replace(read("approve"), arguments=meant), ask())
