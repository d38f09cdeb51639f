"""A member's conversation: replies and observations in the form that strict providers take.

Every tool call has an id of its own and one answer right behind its message; a model that is offered no tools is shown
a history without tool calls, for some providers refuse one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

from stateward.run.distinct import distinct
from stateward.run.door.tool import ToolResult, refusal

UNNAMED = "unnamed"
"""What a call is said to be of that names no tool."""
_UNREAD = "its arguments are no JSON object; send the call again"


def cleaned(reply: AIMessage, *, name: str, step: int) -> AIMessage:
    """Return a reply as it is kept: its calls have ids of their own and names, and it says who spoke.

    Args:
        reply: What the model said.
        name: Who spoke.
        step: The how manieth reply it is, for ids that are missing.
    """
    named = [
        {**call, "id": call["id"] or f"call_{step}_{no}", "name": call["name"] or UNNAMED}
        for no, call in enumerate((*reply.tool_calls, *reply.invalid_tool_calls), start=1)
    ]
    own = len(reply.tool_calls)
    update = {"name": name, "tool_calls": named[:own], "invalid_tool_calls": named[own:]}
    return distinct(reply.model_copy(update=update))


def apart(reply: AIMessage, messages: Sequence[BaseMessage]) -> AIMessage:
    """Return a reply that takes no other message's place: without its id, where another has the same.

    Args:
        reply: What the model said; a server, or a cache in front of it, may give every reply one id.
        messages: The conversation that it is to be added to.
    """
    is_taken = reply.id is not None and any(message.id == reply.id for message in messages)
    return reply.model_copy(update={"id": None}) if is_taken else reply


def has_calls(message: BaseMessage) -> bool:
    """Whether a message asks for tools, be it in a form that cannot be read.

    Args:
        message: Any message.
    """
    return isinstance(message, AIMessage) and bool(message.tool_calls or message.invalid_tool_calls)


def open_reply(messages: Sequence[BaseMessage], name: str) -> AIMessage | None:
    """Return an agent's last reply, if it asks for tools and a call of it has no answer yet.

    It need not be the last message: while its calls are made, or wait for a person, others may speak.

    Args:
        messages: The conversation.
        name: Who spoke.
    """
    answered = set[str]()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
        elif isinstance(message, AIMessage) and message.name == name:
            calls = {str(call["id"]) for call in (*message.tool_calls, *message.invalid_tool_calls)}
            return message if calls - answered else None
    return None


def observed(result: ToolResult) -> ToolMessage:
    """Return a call's result as the model reads it.

    Args:
        result: What came of the call.
    """
    return ToolMessage(
        content=result.text,
        tool_call_id=result.call_id,
        name=result.name,
        status="success" if result.ok else "error",
    )


def refused(call: ToolCall, reason: str) -> ToolMessage:
    """Return the observation of a call that was not made.

    Args:
        call: The call.
        reason: One sentence for the model.
    """
    return observed(refusal(call["name"], "denied", reason, call_id=str(call["id"])))


def unread(reply: AIMessage) -> list[ToolMessage]:
    """Return the observations of the calls that could not be read.

    Args:
        reply: As it is kept.
    """
    return [
        observed(refusal(call["name"] or UNNAMED, "invalid", _UNREAD, call_id=str(call["id"])))
        for call in reply.invalid_tool_calls
    ]


def without_tools(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Tell a conversation in words: calls and their results as text, for a model that is offered no tools.

    Args:
        messages: The conversation; it is left as it is.
    """
    return [_in_words(message) for message in messages]


def _in_words(message: BaseMessage) -> BaseMessage:
    if isinstance(message, ToolMessage):
        return HumanMessage(content=f"Result of `{message.name}`: {message.text}", id=message.id)
    if not has_calls(message):
        return message
    reply = cast(AIMessage, message)
    calls = [f"Calls `{call['name']}` with {call['args']}" for call in (*reply.tool_calls, *reply.invalid_tool_calls)]
    said = [reply.text] if reply.text else []
    return AIMessage(content="\n".join((*said, *calls)), name=reply.name, id=reply.id)
