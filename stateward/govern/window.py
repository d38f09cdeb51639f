"""The context window: what a model is shown of a long conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    MessageLikeRepresentation,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)

_MARK = "stateward_dropped"


def prune(
    messages: Sequence[MessageLikeRepresentation], *, max_messages: int | None, keep_last: int | None
) -> list[BaseMessage]:
    """Shorten a conversation to its beginning, a summary and its end.

    A tool call and its answers stay together: where the end would begin between them, it begins at the call,
    and the result may be longer than `max_messages`. A summary made by an earlier pruning is taken up into
    the new one.

    Args:
        messages: The conversation, as messages or what LangChain converts to messages.
        max_messages: A conversation of at most this many messages is returned whole; None for no limit.
        keep_last: How many of the last messages to keep, at least 1; None for all.

    Returns:
        The leading system prompt if there is one, one system message that says how many messages of which
        role were left out, and the last messages.

    Source:
        SYSTEMS.md, E2; HAZARDS.md, 17.
    """
    given = convert_to_messages(messages)
    if max_messages is None or keep_last is None or len(given) <= max_messages:
        return given
    head = given[:1] if isinstance(given[0], SystemMessage) and not _counted(given[0]) else []
    start = _whole_pairs(given, start=max(len(head), len(given) - keep_last))
    dropped = given[len(head) : start]
    return [*head, _summary(dropped), *given[start:]] if dropped else given


def _whole_pairs(messages: Sequence[BaseMessage], *, start: int) -> int:
    """Move the start back until every answer after it has its call after it as well."""
    calls = _calls(messages)
    number = len(messages) - 1
    while number >= start:
        message = messages[number]
        if isinstance(message, ToolMessage):
            start = min(start, calls.get(message.tool_call_id, start))
        number -= 1
    return start


def _calls(messages: Sequence[BaseMessage]) -> dict[str, int]:
    places: dict[str, int] = {}
    for number, message in enumerate(messages):
        if isinstance(message, AIMessage):
            for call in message.tool_calls:
                if call["id"] is not None:
                    places[call["id"]] = number
    return places


def _summary(dropped: Sequence[BaseMessage]) -> SystemMessage:
    counts = Counter[str]()
    for message in dropped:
        counts.update(_counted(message) or {message.type: 1})
    listed = ", ".join(f"{counts[role]} {role}" for role in sorted(counts))
    return SystemMessage(
        content=f"{counts.total()} earlier messages were left out here: {listed}.",
        additional_kwargs={_MARK: dict(counts)},
    )


def _counted(message: BaseMessage) -> Mapping[str, int] | None:
    """Return the counts an earlier summary carries; None for any other message."""
    # LangChain types `additional_kwargs` as a bare dict.
    extra = cast("dict[str, object]", message.additional_kwargs)  # pyright: ignore[reportUnknownMemberType]
    return cast("Mapping[str, int] | None", extra.get(_MARK))
