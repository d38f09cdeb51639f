"""What rules read of a conversation."""

from __future__ import annotations

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from nodes.react.turn import calling, turn


def talk() -> list[BaseMessage]:
    """A question with its answer, and one that a tool has just been called for."""
    said: list[BaseMessage] = [SystemMessage("Be short."), HumanMessage("one")]
    said += [calling(said, ("add", {"n": 1}), ("add", {"n": 2}))]
    said += [ToolMessage("1", tool_call_id="call_2_1"), ToolMessage("2", tool_call_id="call_2_2")]
    said += [AIMessage("3"), HumanMessage("two")]
    said += [calling(said, ("add", {"n": 4}))]
    return [*said, ToolMessage("no", tool_call_id="call_7_1", status="error")]


def test_a_turn_tells_what_was_seen_since_the_question_from_before() -> None:
    """In call order, with the arguments, and whether it went well."""
    read = turn(talk())
    assert (read.question, read.asked) == ("two", ("one", "two"))
    assert [(one.args["n"], one.text, one.ok) for one in read.before] == [(1, "1", True), (2, "2", True)]
    assert [(one.args["n"], one.text, one.ok) for one in read.seen] == [(4, "no", False)]


def test_the_latest_is_the_last_that_went_well() -> None:
    """A failure hides nothing that was known before."""
    latest = turn(talk()).latest("add")
    assert latest is not None
    assert latest.text == "2"
    assert turn(talk()).latest("subtract") is None


def test_a_conversation_without_a_question_is_empty() -> None:
    """Rules must live with anything."""
    read = turn([SystemMessage("x"), ToolMessage("y", tool_call_id="nobody's")])
    assert (read.question, read.seen, read.before) == ("", (), ())
