"""What a member sees of a conversation that was handed over: less of it, and always in pairs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

from stateward.teams.seen_history import View, seen
from tests.teams.agents import is_whole

HISTORY: list[BaseMessage] = [
    HumanMessage("go", id="h"),
    AIMessage("I look.", id="a1", tool_calls=[{"name": "look", "args": {}, "id": "c1"}]),
    ToolMessage("seen", id="t1", tool_call_id="c1"),
    AIMessage("", id="a2", tool_calls=[{"name": "transfer_to_B", "args": {}, "id": n} for n in ("c2", "c3")]),
    ToolMessage("B goes on", id="won", tool_call_id="c2"),
    ToolMessage("too late", id="t3", tool_call_id="c3"),
    HumanMessage("and then?", id="h2"),
]


def told(mode: str, *, note: str = "", behind: str = "won") -> list[tuple[str, str]]:
    """Kind and text of what is seen."""
    view = View(mode=mode, behind=behind, by="A", note=note)
    return [(message.type, message.text) for message in seen(HISTORY, view)]


def test_a_full_history_is_seen_as_it_is() -> None:
    """Nothing is left out."""
    assert len(told("full")) == len(HISTORY)


def test_a_filtered_history_has_words_alone() -> None:
    """Calls and results are left out together, up to the last answer of the reply that handed over."""
    assert told("filtered") == [
        ("human", "go"),
        ("ai", "I look."),
        ("human", "A hands over to you."),
        ("human", "and then?"),
    ]


def test_a_summary_is_the_note_and_the_last_words_of_the_user() -> None:
    """Whoever hands over writes it."""
    assert told("summary", note="Look at x.") == [
        ("human", "go"),
        ("human", "A hands over to you: Look at x."),
        ("human", "and then?"),
    ]


def test_a_summary_without_a_note_counts_what_is_left_out() -> None:
    """The member knows that there was more."""
    assert told("summary")[:2] == [
        ("human", "(What was said before is left out: 2 of ai, 3 of tool.)"),
        ("human", "go"),
    ]


def test_a_history_without_the_handoff_is_seen_as_it_is() -> None:
    """It was pruned up to there: what is left is behind it."""
    assert len(told("filtered", behind="gone")) == len(HISTORY)


@pytest.mark.parametrize("mode", ["full", "filtered", "summary"])
@given(data=st.data())
def test_every_view_is_whole(mode: str, data: Any) -> None:
    """Whatever the history, and wherever it was handed over, each call has its answer right behind it."""
    history: list[BaseMessage] = []
    for turn in range(data.draw(st.integers(1, 4))):
        calls: list[ToolCall] = [
            {"name": "t", "args": {}, "id": f"{turn}-{no}"} for no in range(data.draw(st.integers(0, 3)))
        ]
        history += [HumanMessage("h"), AIMessage(data.draw(st.sampled_from(["", "a"])), tool_calls=calls)]
        history += [ToolMessage("t", tool_call_id=call["id"], id=call["id"]) for call in calls]
    answers = [message.id for message in history if isinstance(message, ToolMessage)]
    view = View(mode=mode, behind=str(data.draw(st.sampled_from([*answers, "none"]))), by="A", note="")
    assert is_whole(seen(history, view))
