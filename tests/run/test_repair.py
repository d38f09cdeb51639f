"""Histories whose tool calls all have an answer."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage

from stateward.run.repair import dangling, mending, repaired


def calling(*calls: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": call} for call in calls])


def answer(call: str) -> ToolMessage:
    return ToolMessage("found", tool_call_id=call)


def told(history: list[BaseMessage]) -> list[Any]:
    """Each message as one word: the call it answers, the calls it makes, or its text."""
    return [
        each.tool_call_id
        if isinstance(each, ToolMessage)
        else [call["id"] for call in each.tool_calls]
        if isinstance(each, AIMessage)
        else each.content
        for each in history
    ]


def test_whole_history_is_left_as_it_is() -> None:
    """Nothing dangles where every call has its answer."""
    history = [HumanMessage("hi"), calling("a", "b"), answer("a"), answer("b")]
    assert (repaired(history, fate="lost"), mending({"m": history}, frozenset("m"), fate="lost")) == ((history, ()), {})


def test_missing_answer_stands_behind_the_answers_of_its_message() -> None:
    """A model wants them before anything else is said."""
    whole, gaps = repaired([calling("a", "b"), answer("a"), HumanMessage("and?")], fate="cancelled")
    assert told(whole) == [["a", "b"], "a", "b", "and?"]
    assert [(gap.call, gap.tool, gap.message) for gap in gaps] == [("b", "look", 0)]


def test_answer_that_is_added_says_what_became_of_the_call() -> None:
    """It is an error to the model, never a result."""
    whole, _ = repaired([calling("a")], fate="lost")
    added = whole[-1]
    assert isinstance(added, ToolMessage)
    assert (added.status, added.name, "lost" in str(added.content)) == ("error", "look", True)


def test_answer_to_no_call_is_left_out() -> None:
    """A summary may have taken the call away (langchain issue 38352)."""
    assert told(repaired([answer("gone"), HumanMessage("hi")], fate="lost")[0]) == ["hi"]


def test_gap_at_the_end_is_mended_by_adding() -> None:
    """The history is not written anew."""
    writes = mending({"m": [HumanMessage("hi"), calling("a")], "n": []}, frozenset("mn"), fate="cancelled")
    assert told(writes["m"]) == ["a"]


def test_gap_in_the_middle_is_mended_by_writing_anew() -> None:
    """A message channel cannot insert."""
    writes = mending({"m": [calling("a"), HumanMessage("hi")]}, frozenset("m"), fate="cancelled")
    assert isinstance(writes["m"][0], RemoveMessage)
    assert told(writes["m"][1:]) == [["a"], "a", "hi"]


def test_orphan_answer_is_mended_too() -> None:
    """A history without gaps may still hold an answer to nothing."""
    writes = mending({"m": [answer("gone"), HumanMessage("hi")]}, frozenset("m"), fate="lost")
    assert told(writes["m"][1:]) == ["hi"]


def test_mending_twice_mends_once() -> None:
    """A step that a crash repeats adds the same message: its id follows from the call."""
    first, second = (mending({"m": [calling("a")]}, frozenset("m"), fate="lost")["m"] for _ in range(2))
    assert first == second
    assert dangling([calling("a"), *first]) == ()
