"""One answer, as a client sends it: nothing of it is dropped."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.errors import InputRefused, NotExpected
from stateward.run.verdict import Answer, from_inbox, from_langchain, read_answer


def read(value: object, *, by: str = "", stated: str = "") -> Answer:
    return read_answer("ask_1", value, asks=["ask_1"], by=by, stated=stated)


def test_who_the_host_says_answers_stands_above_what_is_said() -> None:
    """Then who the answer names, then who is named beside all."""
    said = {"decision": "approve", "by": "bob"}
    assert [read(said, by="ann", stated="cy").by, read(said, stated="cy").by, read("approve", stated="cy").by] == [
        "ann",
        "bob",
        "cy",
    ]


def test_an_edit_brings_all_arguments_of_another_call() -> None:
    """The tool is the one that was shown when it is not said."""
    edit = read({"decision": "edit", "arguments": {"eur": 1}})
    assert (edit.tool, edit.arguments, edit.edit) == ("", {"eur": 1}, {"tool": "", "arguments": {"eur": 1}})
    assert read({"decision": "approve", "arguments": {"eur": 1}}).edit == {}


@pytest.mark.parametrize("said", [{}, {"arguments": None}, {"arguments": "eur"}, {"arguments": [1]}])
def test_an_edit_without_arguments_is_refused(said: dict[str, Any]) -> None:
    """It says what an edit looks like."""
    with pytest.raises(InputRefused, match="names no arguments"):
        read({"decision": "edit", **said})


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


def test_an_edit_of_langchain_names_tool_and_arguments() -> None:
    """In its own words."""
    said = {"type": "edit", "edited_action": {"name": "refund", "args": {"eur": 1}}}
    assert from_langchain(said) == {"decision": "edit", "tool": "refund", "arguments": {"eur": 1}}


@pytest.mark.parametrize("action", ["refund", [], {"name": "refund", "args": {}, "more": 1}])
def test_an_edited_action_that_is_no_call_is_refused(action: Any) -> None:
    """Nothing of it is dropped."""
    with pytest.raises(InputRefused, match="edited_action"):
        from_langchain({"type": "edit", "edited_action": action})


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ({"type": "accept", "args": None}, {"decision": "approve"}),
        ({"type": "ignore"}, {"decision": "reject"}),
        ({"type": "response", "args": "blue"}, {"decision": "respond", "note": "blue"}),
        ({"type": "response", "args": {"a": 1}}, {"decision": "respond", "value": {"a": 1}}),
        (
            {"type": "edit", "args": {"action": "pay", "args": {"eur": 1}}},
            {"decision": "edit", "tool": "pay", "arguments": {"eur": 1}},
        ),
    ],
)
def test_the_words_of_the_agent_inbox_are_those_of_an_answer(said: Any, answer: Any) -> None:
    """It says everything else in `args`."""
    assert from_inbox(said) == answer


@pytest.mark.parametrize("said", [{"type": "approve"}, {"args": "x"}, {"type": "accept", "note": "x"}])
def test_what_the_inbox_does_not_send_is_refused(said: Any) -> None:
    """Nothing of an answer is dropped."""
    with pytest.raises(InputRefused):
        from_inbox(said)


def test_a_value_alone_is_an_answer() -> None:
    """To whatever asks for one."""
    assert (read({"value": 3}).decision, read({"value": 3}).value) == ("respond", 3)
    assert read({"decision": "edit", "value": "new"}).edit["value"] == "new"


@pytest.mark.parametrize(
    "said",
    [
        {"type": "approve", "decision": "reject"},
        {"type": "reject", "message": "no", "note": "yes"},
        {"type": "edit", "tool": "pay", "edited_action": {"name": "refund", "args": {}}},
    ],
)
def test_what_is_said_in_two_words_is_refused(said: Any) -> None:
    """Neither of them is dropped."""
    with pytest.raises(InputRefused, match="twice"):
        read(said)
