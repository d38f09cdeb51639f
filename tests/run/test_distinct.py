"""Calls of one message that have the same id."""

from __future__ import annotations

from langchain_core.messages import AIMessage

from stateward.run.distinct import distinct


def test_a_message_without_such_calls_is_the_same() -> None:
    """Nothing is written anew."""
    message = AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": call} for call in "ab"])
    assert distinct(message) is message


def test_the_second_of_them_gets_an_id_of_its_own() -> None:
    """Wherever the message has it: providers read one place or the other."""
    message = AIMessage(
        [{"type": "text", "text": "a"}, *({"type": "tool_use", "name": "look", "id": "a", "input": {}} for _ in "12")],
        tool_calls=[{"name": "look", "args": {}, "id": "a"} for _ in "12"],
        additional_kwargs={"tool_calls": [{"id": "a", "type": "function"} for _ in "12"]},
        id="m1",
    )
    made = distinct(message)
    blocks = [block.get("id") for block in made.content if isinstance(block, dict)]
    raw = [each["id"] for each in made.additional_kwargs["tool_calls"]]
    assert ([call["id"] for call in made.tool_calls], blocks, raw) == (["a", "a-2"], [None, "a", "a-2"], ["a", "a-2"])
    assert (made.id, [call["id"] for call in message.tool_calls]) == ("m1", ["a", "a"])


def test_an_invalid_call_counts_as_well() -> None:
    """Providers are sent both kinds."""
    message = AIMessage(
        "",
        tool_calls=[{"name": "look", "args": {}, "id": "a"}],
        invalid_tool_calls=[{"name": "look", "args": "{", "id": "a", "error": None}],
    )
    assert distinct(message).invalid_tool_calls[0]["id"] == "a-2"
