"""Histories stay well paired: a tool call without an answer gets one that says what became of it.

A model that is shown an AI message with tool calls expects a tool message for each, right behind it. A run that was
cancelled, or that died, leaves calls without (HAZARDS 17); so do histories that somebody hands in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

Fate = Literal["cancelled", "lost"]
"""`cancelled`: the run was ended before the call was; `lost`: nobody knows."""

_TOLD: Mapping[Fate, str] = {
    "cancelled": "The call was cancelled: its run was ended before it had a result.",
    "lost": "The result of the call is lost: nobody knows whether it was done.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dangling:
    """A tool call that has no answer."""

    call: str
    """The model's id of the call."""
    tool: str
    message: int
    """Place of the AI message in the history, from 0."""


def dangling(messages: Sequence[BaseMessage]) -> tuple[Dangling, ...]:
    """Find the tool calls of a history that have no tool message behind them.

    Args:
        messages: The history.

    Returns:
        The calls, in the order in which they were made.
    """
    found: list[Dangling] = []
    answered: set[str] = set()
    for place, message in reversed([*enumerate(messages)]):  # from the end, where the answers are
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
        elif isinstance(message, AIMessage):
            found += [
                Dangling(call=call["id"], tool=call["name"], message=place)
                for call in reversed(message.tool_calls)
                if call["id"] is not None and call["id"] not in answered
            ]
    return tuple(reversed(found))


def repaired(
    messages: Sequence[BaseMessage], *, fate: Fate, is_open: bool = False
) -> tuple[list[BaseMessage], tuple[Dangling, ...]]:
    """Pair every tool call of a history, and leave out tool messages that answer none.

    Args:
        messages: The history; it is left as it is.
        fate: What the answers that are added say.
        is_open: Whether the calls at its very end are still to be made, and so left as they are.

    Returns:
        The history, and the calls that got an answer here.
    """
    gaps = dangling(messages)
    if is_open:
        end = max((place for place, each in enumerate(messages) if not isinstance(each, ToolMessage)), default=-1)
        gaps = tuple(gap for gap in gaps if gap.message != end)
    by_place: dict[int, list[Dangling]] = {}
    for gap in gaps:
        by_place.setdefault(gap.message, []).append(gap)
    made = {call["id"] for each in messages if isinstance(each, AIMessage) for call in each.tool_calls}
    whole: list[BaseMessage] = []
    waiting: list[BaseMessage] = []
    for place, message in enumerate(messages):
        if not isinstance(message, ToolMessage):
            whole += waiting
            waiting = [_answer(gap, fate) for gap in by_place.get(place, ())]
        elif message.tool_call_id not in made:
            continue
        whole.append(message)
    return [*whole, *waiting], gaps


def mending(values: Mapping[str, Any], keys: frozenset[str], *, fate: Fate) -> dict[str, list[BaseMessage]]:
    """Return the writes that pair the histories of a state.

    Args:
        values: The state's values.
        keys: The keys that hold messages.
        fate: What the answers that are added say.

    Returns:
        For each key whose history has a gap the messages to write: only the answers where they come at the end, else
        the whole history anew.
    """
    writes: dict[str, list[BaseMessage]] = {}
    for key in sorted(keys):
        history = cast("Sequence[BaseMessage]", values.get(key) or [])
        whole, _ = repaired(history, fate=fate)
        if whole != list(history):
            is_end = whole[: len(history)] == list(history)
            writes[key] = whole[len(history) :] if is_end else [RemoveMessage(id=REMOVE_ALL_MESSAGES), *whole]
    return writes


def paired(
    history: Sequence[BaseMessage], given: Sequence[BaseMessage]
) -> tuple[list[BaseMessage], tuple[Dangling, ...]]:
    """Pair the history that an input makes with what a session has; calls at its end may be what the input is for.

    Args:
        history: What the session has.
        given: The messages of the input.

    Returns:
        The messages to write: those given, or the whole history anew; and the calls that got an answer.
    """
    made = cast("list[BaseMessage]", add_messages(cast("Any", list(history)), cast("Any", list(given))))
    whole, gaps = repaired(made, fate="lost", is_open=True)
    if whole == made:
        return list(given), ()
    return [RemoveMessage(id=REMOVE_ALL_MESSAGES), *whole], gaps


def _answer(gap: Dangling, fate: Fate) -> ToolMessage:
    # The id follows from the call, so that a step that is repeated after a crash adds nothing twice.
    return ToolMessage(
        content=_TOLD[fate], tool_call_id=gap.call, name=gap.tool, status="error", id=f"{gap.call}-{fate}"
    )
