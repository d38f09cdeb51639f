"""Histories whose tool calls all have an answer."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
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


def is_well_paired(history: list[BaseMessage]) -> bool:
    """As a provider looks at it: behind each call its answer, before anything else is said."""
    awaited: list[Any] = []
    for each in history:
        if isinstance(each, ToolMessage):
            if each.tool_call_id not in awaited:
                return False
            awaited.remove(each.tool_call_id)
        elif awaited:
            return False
        elif isinstance(each, AIMessage):
            awaited = [call["id"] for call in each.tool_calls]
    return not awaited


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


def test_an_answer_that_stands_further_on_is_put_behind_its_call() -> None:
    """What it found is not lost; a model wants it before anything else is said."""
    whole, gaps = repaired([calling("a", "b"), answer("a"), HumanMessage("and?"), answer("b")], fate="lost")
    assert told(whole) == [["a", "b"], "a", "b", "and?"]
    assert (gaps[0].call, gaps[0].mend, whole[2]) == ("b", "moved", answer("b"))


@pytest.mark.parametrize(
    ("history", "whole", "mends"),
    [
        ([answer("a"), calling("a"), HumanMessage("hi")], [["a"], "a", "hi"], ["dropped", "added"]),
        ([calling("a"), answer("a"), answer("a")], [["a"], "a"], ["dropped"]),
        ([calling("a"), answer("a"), HumanMessage("hi"), answer("a")], [["a"], "a", "hi"], ["dropped"]),
        ([calling("a"), answer("x"), answer("a")], [["a"], "a"], ["dropped"]),
        ([calling("a"), calling("b"), answer("b"), answer("a")], [["a"], "a", ["b"], "b"], ["moved"]),
        ([calling("a"), calling("a"), answer("a")], [["a"], "a", ["a"], "a"], ["added"]),
        ([calling("a"), answer("a"), calling("a"), answer("a")], [["a"], "a", ["a"], "a"], []),
        ([calling("a", "a"), answer("a")], [["a", "a-2"], "a", "a-2"], ["renamed", "added"]),
        ([calling("a", "a"), answer("a"), answer("a")], [["a", "a-2"], "a", "a-2"], ["renamed"]),
        ([calling("a", "a-2", "a")], [["a", "a-2", "a-3"], "a", "a-2", "a-3"], ["added", "added", "renamed", "added"]),
    ],
)
def test_each_call_has_one_answer_right_behind_it(history: Any, whole: Any, mends: list[str]) -> None:
    """Of its own, and no answer stands anywhere else; what was done is told, and done once."""
    found, gaps = repaired(history, fate="lost")
    assert (told(found), sorted(gap.mend for gap in gaps)) == (whole, sorted(mends))
    assert repaired(found, fate="lost") == (found, ())


def test_a_call_that_could_not_be_read_has_an_answer_too() -> None:
    """Providers are sent it as a call."""
    bad = AIMessage("", invalid_tool_calls=[{"name": "look", "args": "{", "id": "a", "error": None}])
    whole, (gap,) = repaired([bad, HumanMessage("hi")], fate="lost")
    assert (told(whole[1:]), gap.call, "not made" in str(whole[1].content)) == (["a", "hi"], "a", True)
    assert repaired([bad, answer("a")], fate="lost") == ([bad, answer("a")], ())


def test_calls_at_an_open_end_are_left_to_be_made() -> None:
    """What is wrong before and between them is mended."""
    history = [calling("a"), HumanMessage("hi"), calling("b", "c"), answer("c"), answer("c")]
    assert told(repaired(history, fate="lost", is_open=True)[0]) == [["a"], "a", "hi", ["b", "c"], "c"]


def test_answers_that_are_added_are_different_messages() -> None:
    """Also where a model names its calls alike each time: of two messages with one id a history keeps one."""
    history = [AIMessage("", id=id, tool_calls=calling("0").tool_calls) for id in ("m1", "m2")]
    assert len({each.id for each in repaired(history, fate="lost")[0]}) == 4


def test_whatever_a_history_is_it_comes_out_well_paired() -> None:
    """Every short history of two calls, their answers and a word between."""
    parts: list[Callable[[], BaseMessage]] = [
        lambda: calling("a"),
        lambda: calling("a", "b"),
        lambda: answer("a"),
        lambda: answer("b"),
        lambda: HumanMessage("hi"),
    ]
    for made in itertools.chain.from_iterable(itertools.product(parts, repeat=length) for length in range(6)):
        whole, _ = repaired([make() for make in made], fate="lost")
        assert is_well_paired(whole), told([make() for make in made])


def test_mending_twice_mends_once() -> None:
    """A step that a crash repeats adds the same message: its id follows from the call."""
    first, second = (mending({"m": [calling("a")]}, frozenset("m"), fate="lost")["m"] for _ in range(2))
    assert first == second
    assert dangling([calling("a"), *first]) == ()
