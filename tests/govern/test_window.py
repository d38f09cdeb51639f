"""A long conversation is shown by its beginning, a summary and its end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from stateward.govern.window import prune


def chat(length: int) -> list[BaseMessage]:
    """Make a system prompt and alternating messages."""
    turns = [HumanMessage(str(n)) if n % 2 else AIMessage(str(n)) for n in range(1, length)]
    return [SystemMessage("prompt"), *turns]


def call(*ids: str) -> AIMessage:
    """Make a message that calls tools."""
    return AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": one} for one in ids])


def answer(one: str) -> ToolMessage:
    """Make the answer to a call."""
    return ToolMessage("done", tool_call_id=one)


def test_41_messages_become_8() -> None:
    """The system prompt, one summary that counts the roles, and the last six (SYSTEMS.md, E2)."""
    given_ = chat(41)
    shown = prune(given_, max_messages=8, keep_last=6)
    assert (len(shown), shown[0], shown[2:]) == (8, given_[0], given_[-6:])
    assert shown[1].text == "34 earlier messages were left out here: 17 ai, 17 human."


def test_a_short_conversation_is_shown_whole() -> None:
    """Nothing is left out of a conversation that fits."""
    assert prune(chat(8), max_messages=8, keep_last=6) == chat(8)


def test_a_conversation_without_prompt_has_a_summary_first() -> None:
    """Without a system prompt one message fewer is shown."""
    assert len(prune(chat(41)[1:], max_messages=8, keep_last=6)) == 7


def test_an_answer_is_never_shown_without_its_call() -> None:
    """The end begins at the call when it would begin among its answers."""
    messages = [*chat(20), call("a", "b", "c"), answer("a"), answer("b"), answer("c"), HumanMessage("thanks")]
    shown = prune(messages, max_messages=5, keep_last=2)
    assert shown[2:] == messages[-5:]


def test_mappings_are_taken_as_messages() -> None:
    """Messages may come as plain data."""
    plain = [{"role": "user", "content": str(n)} for n in range(9)]
    assert [message.text for message in prune(plain, max_messages=4, keep_last=2)][-2:] == ["7", "8"]


def test_pruning_again_adds_the_counts_up() -> None:
    """A summary is taken up into the next one, so the counts stay those of the whole conversation."""
    once = prune(chat(41), max_messages=8, keep_last=6)
    twice = prune([*once, *chat(11)[1:]], max_messages=8, keep_last=6)
    assert twice[1].text == "44 earlier messages were left out here: 22 ai, 22 human."
    assert len(twice) == 8


@given(st.lists(st.integers(0, 3), max_size=30), st.integers(1, 10))
def test_pairs_stay_whole(batches: list[int], keep: int) -> None:
    """After pruning every answer has its call before it, and every call its answers after it."""
    messages: list[BaseMessage] = []
    for number, size in enumerate(batches):
        ids = [f"{number}-{place}" for place in range(size)]
        messages += [HumanMessage("x"), call(*ids), *(answer(one) for one in ids)]
    shown = prune(messages, max_messages=keep + 2, keep_last=keep)
    called = [one["id"] for message in shown if isinstance(message, AIMessage) for one in message.tool_calls]
    answered = [message.tool_call_id for message in shown if isinstance(message, ToolMessage)]
    assert called == answered
    assert shown[-keep:] == messages[-keep:]
