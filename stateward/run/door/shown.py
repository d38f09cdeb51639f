"""What a model is shown of what an activity says to it: redacted, and no more than its window."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage

from stateward.govern.effective import Effective
from stateward.govern.kinds.redaction import Finding
from stateward.govern.redact import redact
from stateward.govern.sink import taken_out
from stateward.govern.window import fit, prune, summed_up, unmarked
from stateward.run.door.counting import counter, tokens_beside
from stateward.run.door.role import ModelRole

_OPAQUE = frozenset(
    ("id", "call_id", "tool_call_id", "tool_use_id", "type", "signature", "thought_signature", "encrypted_content")
)
"""Keys of blocks whose values a provider made and wants back as they are: none of them says anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A conversation as it goes to a model."""

    said: list[BaseMessage]
    """What the call is known by: redacted, and of so many messages as the window has. The policy alone decides about
    it, so that a call that was made is known again wherever the activity is entered anew."""
    sent: list[BaseMessage]
    """What is sent: of so many tokens as the window has for this model."""


def shown(
    messages: Sequence[BaseMessage],
    *,
    effective: Effective,
    role: ModelRole,
    options: Mapping[str, Any],
    summary: str = "",
) -> Shown:
    """Return what a model is shown of a conversation.

    Args:
        messages: The conversation.
        effective: The policy of the state.
        role: Who is to read it.
        options: What is sent beside it.
        summary: What a model wrote about the messages that are left out; empty for nothing.

    Raises:
        RunError: The window has too few tokens for the last message, or they cannot be counted.
    """
    classes = taken_out(effective, sink="model")
    said = [redacted(message, classes=classes) for message in messages]
    window = effective.window
    if window is None:
        return Shown(said=said, sent=said)
    said = prune(said, max_messages=window.max_messages, keep_last=window.keep_last)
    sent = summed_up(said, text=redact(summary, classes=classes)) if summary else said
    if window.max_tokens is None:
        return Shown(said=said, sent=[unmarked(each) for each in sent])
    count = counter(role)
    beside = tokens_beside(options, count=count)
    sent = fit(sent, max_tokens=window.max_tokens, count=count, reserved=beside)
    return Shown(said=said, sent=[unmarked(each) for each in sent])


def redacted(message: BaseMessage, *, classes: Collection[Finding]) -> BaseMessage:
    """Take out of a message what a model is not shown.

    Args:
        message: Any message; it is not changed.
        classes: What to take out.

    Returns:
        The message itself if nothing is found in it.
    """
    # LangChain types contents and arguments as bare lists and dicts.
    before: dict[str, Any] = {"content": message.content}  # pyright: ignore[reportUnknownMemberType]
    if message.additional_kwargs:  # pyright: ignore[reportUnknownMemberType]
        before["additional_kwargs"] = message.additional_kwargs  # pyright: ignore[reportUnknownMemberType]
    after = {name: _clean(value, classes) for name, value in before.items()}
    if message.name:
        before["name"], after["name"] = message.name, redact(message.name, classes=classes)
    for name in _calls_of(message):
        calls = cast("list[dict[str, Any]]", getattr(message, name))
        if not calls:
            continue
        before[name] = calls
        after[name] = [{**call, "args": redact({"args": call["args"]}, classes=classes)["args"]} for call in calls]
    return message if after == before else message.model_copy(update=after)


def _clean(value: object, classes: Collection[Finding]) -> object:
    clean = redact(value, classes=classes)
    return clean if type(value) is str else _kept(clean, value)


def _calls_of(message: BaseMessage) -> tuple[str, ...]:
    if isinstance(message, AIMessageChunk):
        return "tool_calls", "invalid_tool_calls", "tool_call_chunks"
    return ("tool_calls", "invalid_tool_calls") if isinstance(message, AIMessage) else ()


def _kept(clean: object, before: object) -> object:
    """Put back what a provider wants to have as it was; redaction keeps the order of lists and keys."""
    if isinstance(clean, Mapping) and isinstance(before, Mapping):
        pairs = zip(
            cast("Mapping[str, object]", clean).items(), cast("Mapping[str, object]", before).items(), strict=True
        )
        return {key: was if own in _OPAQUE else _kept(value, was) for (key, value), (own, was) in pairs}
    if isinstance(clean, list) and isinstance(before, list):
        both = zip(cast("list[object]", clean), cast("list[object]", before), strict=True)
        return [_kept(one, was) for one, was in both]
    return cast("object", clean)
