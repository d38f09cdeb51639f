"""The context window: what a model is shown of a long conversation.

A window counts messages, or tokens, or both. It always keeps the leading system prompt, one system message that says
what was left out, and the end of the conversation; a tool call and its answers stay together. A limit of tokens is
never passed: where even the last message with its prompt is too long the call is refused, since half a question, or
half an answer of a tool, would be answered as if it were the whole.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    MessageLikeRepresentation,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)

from stateward.errors import RunError

Count = Callable[[Sequence[BaseMessage]], int]
"""Says how many tokens messages have, for the model that is to read them."""
_MARK = "stateward_dropped"
_TOKENS = "stateward_dropped_tokens"
_SUMMED_UP = "(What was left out, as a model summed it up. It is a record, and asks for nothing.)"


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
    head = _head(given)
    start = _whole_pairs(given, start=max(len(head), len(given) - keep_last))
    dropped = given[len(head) : start]
    return [*head, _summary(dropped), *given[start:]] if dropped else given


def left_out(messages: Sequence[BaseMessage], *, max_messages: int, keep_last: int) -> list[BaseMessage]:
    """Return what a summary is to be about: what `prune` leaves out, and some of what follows.

    It grows by `keep_last` messages at a time, so that one summary is good for as many calls.

    Args:
        messages: The conversation.
        max_messages: As for `prune`.
        keep_last: As for `prune`.

    Returns:
        Messages from the beginning, without the leading system prompt; none if nothing is left out.
    """
    if len(messages) <= max_messages:
        return []
    head = len(_head(messages))
    least = len(messages) - keep_last - head
    return list(messages[head : head + -(-least // keep_last) * keep_last])


def summed_up(messages: Sequence[BaseMessage], *, text: str) -> list[BaseMessage]:
    """Put what somebody wrote about the messages that were left out behind the message that counts them.

    It is a user's message and no system prompt: it repeats what users and tools have said.

    Args:
        messages: From `prune`.
        text: The summary.
    """
    for place, message in enumerate(messages):
        if isinstance(message, SystemMessage) and _counted(message) is not None:
            told = HumanMessage(content=f"{_SUMMED_UP}\n{text}", additional_kwargs={_MARK: {}})
            return [*messages[: place + 1], told, *messages[place + 1 :]]
    return list(messages)


def fit(messages: Sequence[BaseMessage], *, max_tokens: int, count: Count, reserved: int = 0) -> list[BaseMessage]:
    """Shorten a conversation until what is sent of it has no more tokens than a limit.

    Args:
        messages: The conversation.
        max_tokens: The limit.
        count: Counts for the model that is to read it.
        reserved: Tokens of what is sent beside the messages, such as the descriptions of tools.

    Returns:
        The conversation, whole if it fits; else its leading system prompt, one system message that says how many
        messages and tokens of which role were left out, and as many of the last messages as fit.

    Raises:
        RunError: Not even the last message fits.

    Source:
        SYSTEMS.md, E2; HAZARDS.md, 17.
    """
    given = list(messages)
    most = max_tokens - reserved
    if count(given) <= most:
        return given
    head = _head(given)
    starts = [place for place in _openings(given) if place > len(head)]

    def at(start: int) -> list[BaseMessage]:
        return [*head, _summary(given[len(head) : start], count=count), *given[start:]]

    first = bisect_left(starts, True, key=lambda start: count(at(start)) <= most)
    for start in starts[first:]:  # a longer summary may be what is too much: then the next one fits
        shown = at(start)
        if count(shown) <= most:
            return shown
    last = given[starts[-1] :] if starts else given[len(head) :]
    prompt, end = (count(each) if each else 0 for each in (head, last))
    raise RunError(
        f"A window of {max_tokens} tokens is too small for the last message: {count(given)} tokens in all, {prompt} of "
        f"the system prompt, {reserved} of tools, {end} of the end",
        fix="Raise `window.max_tokens`, or let the tool or the activity hand over less at once.",
        max_tokens=max_tokens,
    )


def unmarked(message: BaseMessage) -> BaseMessage:
    """Return a message as it is sent: without what a summary of a pruning has beside its text.

    Args:
        message: Any message.
    """
    kept = {name: value for name, value in _extra(message).items() if name not in (_MARK, _TOKENS)}
    return message if len(kept) == len(_extra(message)) else message.model_copy(update={"additional_kwargs": kept})


def _head(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    first = messages[:1]
    return list(first) if first and isinstance(first[0], SystemMessage) and not _counted(first[0]) else []


def _openings(messages: Sequence[BaseMessage]) -> list[int]:
    """List where the end of a conversation may begin without parting a call from its answers."""
    calls = _calls(messages)
    steps = [0] * (len(messages) + 1)
    for number, message in enumerate(messages):
        call = calls.get(message.tool_call_id) if isinstance(message, ToolMessage) else None
        if call is not None and call < number:
            steps[call + 1] += 1
            steps[number + 1] -= 1
    return [place for place, parted in enumerate(accumulate(steps[:-1])) if not parted]


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


def _summary(dropped: Sequence[BaseMessage], *, count: Count | None = None) -> SystemMessage:
    counts = Counter[str]()
    tokens, fresh = 0, list[BaseMessage]()
    for message in dropped:
        earlier = _counted(message)
        counts.update({message.type: 1} if earlier is None else earlier)
        if earlier is None:
            fresh.append(message)
        else:
            tokens += cast("int", _extra(message).get(_TOKENS, 0))
    listed = ", ".join(f"{counts[role]} {role}" for role in sorted(counts))
    told, more = "", dict[str, object]()
    if count is not None:
        tokens += count(fresh) if fresh else 0
        told, more = f" ({tokens} tokens)", {_TOKENS: tokens}
    return SystemMessage(
        content=f"{counts.total()} earlier messages{told} were left out here: {listed}.",
        additional_kwargs={_MARK: dict(counts), **more},
    )


def _counted(message: BaseMessage) -> Mapping[str, int] | None:
    """Return the counts an earlier summary carries; None for any other message."""
    return cast("Mapping[str, int] | None", _extra(message).get(_MARK))


def _extra(message: BaseMessage) -> dict[str, object]:
    # LangChain types `additional_kwargs` as a bare dict.
    return cast("dict[str, object]", message.additional_kwargs)  # pyright: ignore[reportUnknownMemberType]
