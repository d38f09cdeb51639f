"""The keys of a state, for people."""

from __future__ import annotations

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from stateward.cli.values import in_full, in_short

CALL = {"name": "add", "args": {"a": 1}, "id": "c1", "type": "tool_call"}
TALK = [
    HumanMessage("1 + 2?"),
    AIMessage("", name="CALC", tool_calls=[CALL]),
    ToolMessage("3", name="add", tool_call_id="c1"),
    AIMessage("It is\n3."),
]


def test_a_conversation_is_one_message_a_line():
    """Who speaks, the words, the calls; no ids and no metadata."""
    assert in_full({"messages": TALK, "sum": 3}) == {
        "messages:": '\n  human: 1 + 2?\n  ai CALC: -> add {"a": 1}\n  tool add: 3\n  ai: It is\n3.',
        "sum:": 3,
    }


def test_the_short_form_has_the_last_words_in_full():
    """They are what the user waited for."""
    assert in_short({"messages": TALK, "sum": 3}) == {"sum:": "3", "messages:": "It is\n3."}


def test_the_short_form_leaves_a_teams_own_keys_out():
    """The conversations of members and the records of blocks are for whoever looks closer."""
    assert in_short({"notes": TALK, "team": {"CALC": {"steps": 2}}, "report": "r"}) == {"report:": "r"}


def test_the_short_form_cuts_a_long_value_to_one_line():
    """It shows that something was cut."""
    text = str(in_short({"report": "word\n" * 100})["report:"])
    assert (len(text), text[-1], "\n" in text) == (120, "…", False)
