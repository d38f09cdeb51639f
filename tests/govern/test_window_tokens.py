"""A window of tokens is never passed, and says what was left out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from stateward.errors import RunError
from stateward.govern.window import fit, prune


def words(messages: Sequence[BaseMessage]) -> int:
    """Count a token for each word, and one for each message."""
    return sum(1 + len(message.text.split()) for message in messages)


def call(*ids: str) -> AIMessage:
    """Make a message that calls tools."""
    return AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": one} for one in ids])


def talk(*texts: str) -> list[BaseMessage]:
    """Make a system prompt and messages of a person."""
    return [SystemMessage("be kind"), *(HumanMessage(text) for text in texts)]


def test_what_fits_is_shown_whole() -> None:
    """Up to the last token."""
    said = talk("one two", "three")
    assert fit(said, max_tokens=words(said), count=words) == said


def test_summary_says_how_many_messages_and_tokens_were_left_out() -> None:
    """As many of the last messages are kept as fit beside prompt and summary."""
    said = talk(*["some words of mine"] * 10)
    shown = fit(said, max_tokens=28, count=words)
    assert (shown[0], shown[2:]) == (said[0], said[-2:])
    assert shown[1].text == "8 earlier messages (40 tokens) were left out here: 8 human."


def test_pruning_again_adds_the_tokens_up() -> None:
    """A summary is taken up into the next one."""
    once = fit(talk(*["some words of mine"] * 10), max_tokens=28, count=words)
    again = fit([*once, HumanMessage("and some more words")], max_tokens=28, count=words)
    assert again[1].text == "9 earlier messages (45 tokens) were left out here: 9 human."


def test_window_of_messages_comes_first() -> None:
    """41 messages become 8, and those are cut to the tokens (SYSTEMS.md, E2)."""
    eight = prune(talk(*["some words of mine"] * 40), max_messages=8, keep_last=6)
    shown = fit(eight, max_tokens=28, count=words)
    assert shown[1].text == "38 earlier messages (20 tokens) were left out here: 38 human."


def test_tools_take_their_part_of_the_window() -> None:
    """What is sent beside the messages counts."""
    said = talk("one two", "three")
    assert len(fit(said, max_tokens=words(said) + 4, count=words, reserved=4)) == 3
    with pytest.raises(RunError, match="9 of tools"):
        fit(said, max_tokens=words(said) + 4, count=words, reserved=9)


def test_message_that_is_too_long_is_refused() -> None:
    """Half of it would be answered as if it were the whole."""
    with pytest.raises(RunError, match=r"window of 20 tokens is too small.*3 of the system prompt.*31 of the end"):
        fit(talk("hello", "word " * 30), max_tokens=20, count=words)


def test_answers_of_one_call_stay_together() -> None:
    """They are left out with their call or not at all."""
    said: list[BaseMessage] = [*talk("one", "two"), call("a", "b")]
    said += [ToolMessage("x " * 10, tool_call_id="a"), ToolMessage("y", tool_call_id="b"), HumanMessage("z")]
    assert [message.type for message in fit(said, max_tokens=22, count=words)] == ["system", "system", "human"]


steps = st.lists(st.sampled_from(["human", "ai", "call", "two calls"]), min_size=1, max_size=12)


@given(steps, st.integers(min_value=1, max_value=60))
def test_limit_holds_and_no_pair_is_parted(kinds: list[str], max_tokens: int) -> None:
    """Whatever the conversation is, what is shown fits and every answer has its call; or it is refused."""
    said: list[BaseMessage] = []
    for number, kind in enumerate(kinds):
        ids = [f"{number}{letter}" for letter in {"call": "a", "two calls": "ab"}.get(kind, "")]
        said += [call(*ids), *(ToolMessage("r " * number, tool_call_id=one) for one in ids)] if ids else []
        said += [HumanMessage("w " * number)] if kind == "human" else [AIMessage("v")] if kind == "ai" else []
    try:
        shown = fit(said, max_tokens=max_tokens, count=words)
    except RunError:
        return
    known = [each["id"] for message in shown if isinstance(message, AIMessage) for each in message.tool_calls]
    answered = [message.tool_call_id for message in shown if isinstance(message, ToolMessage)]
    assert words(shown) <= max_tokens
    assert known == answered
    assert shown[-1] == said[-1]
