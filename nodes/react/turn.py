"""What rules read of a conversation: the last question, and what tools have told since and before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

from stateward.teams.mind import WRAP_UP


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One call and the observation that came of it."""

    name: str
    args: Mapping[str, Any]
    text: str
    ok: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Where a conversation stands."""

    question: str
    """The text of the last human message."""
    asked: tuple[str, ...]
    """The texts of all human messages, the last included."""
    seen: tuple[Seen, ...]
    """What was observed since the last question, in call order."""
    before: tuple[Seen, ...]
    """What was observed before it."""
    is_last: bool
    """Whether no calls can be made any more, so that an answer is due."""

    def latest(self, name: str) -> Seen | None:
        """Return the last call of a tool that went well, of this turn or an earlier one.

        Args:
            name: The tool.
        """
        return next((one for one in reversed((*self.before, *self.seen)) if one.name == name and one.ok), None)


def turn(messages: Sequence[BaseMessage]) -> Turn:
    """Read a conversation.

    Args:
        messages: The messages as a model is sent them.

    Returns:
        The last question and the observations around it.
    """
    is_last = bool(messages) and messages[-1].text == WRAP_UP
    said = messages[:-1] if is_last else messages
    places = [at for at, message in enumerate(said) if isinstance(message, HumanMessage)]
    asked = tuple(said[at].text for at in places)
    begin = places[-1] if places else 0
    return Turn(
        question=asked[-1] if asked else "",
        asked=asked,
        seen=_seen(said[begin:]),
        before=_seen(said[:begin]),
        is_last=is_last,
    )


def calling(messages: Sequence[BaseMessage], *requests: tuple[str, dict[str, Any]], text: str = "") -> AIMessage:
    """Make a reply that calls tools.

    Args:
        messages: The conversation it is a reply to, so that no id of a call comes twice in it.
        requests: Tool name and arguments, in call order.
        text: What is said beside.

    Returns:
        The message.
    """
    numbered = enumerate(requests, start=1)
    return AIMessage(
        text,
        tool_calls=[ToolCall(name=name, args=args, id=f"call_{len(messages)}_{n}") for n, (name, args) in numbered],
    )


def _seen(messages: Sequence[BaseMessage]) -> tuple[Seen, ...]:
    asked = {call["id"]: call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls}
    return tuple(
        Seen(name=call["name"], args=call["args"], text=message.text, ok=message.status == "success")
        for message in messages
        if isinstance(message, ToolMessage) and (call := asked.get(message.tool_call_id))
    )
