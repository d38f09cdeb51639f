"""Calls of one message are told apart by their ids, and some models give two of them the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage


def ids_of(message: AIMessage) -> list[str | None]:
    """Return the ids of the calls of a message, in order; those that could not be read come last.

    Args:
        message: The message.
    """
    return [call["id"] for call in (*message.tool_calls, *message.invalid_tool_calls)]


def distinct(message: AIMessage) -> AIMessage:
    """Give each call of a message an id of its own.

    Args:
        message: The message; it is left as it is.

    Returns:
        The message, anew when two of its calls have the same id.
    """
    ids = [id for id in ids_of(message) if id is not None]
    if len(ids) == len(set(ids)):
        return message
    content = message.content
    blocks = content if isinstance(content, str) else _renamed(content, ids)
    raw = message.additional_kwargs.get("tool_calls")
    more = {"tool_calls": _renamed(cast("list[Any]", raw), ids)} if isinstance(raw, list) else {}
    calls = _renamed([*message.tool_calls, *message.invalid_tool_calls], ids)
    own = len(message.tool_calls)
    return message.model_copy(
        update={
            "content": blocks,
            "tool_calls": calls[:own],
            "invalid_tool_calls": calls[own:],
            "additional_kwargs": {**message.additional_kwargs, **more},
        }
    )


def _renamed(entries: Sequence[Any], ids: list[str]) -> list[Any]:  # blocks and calls as a provider made them
    """Rename the second and each further entry of an id: in every list of a message to the same names."""
    rename = _renaming(ids)
    made: list[Any] = []
    for entry in entries:
        block = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        made.append({**block, "id": rename(block["id"])} if block.get("id") in ids else entry)
    return made


def _renaming(ids: list[str]) -> Callable[[str], str]:
    used, met = set(ids), set[str]()

    def rename(id: str) -> str:
        if id not in met:
            met.add(id)
            return id
        new = next(name for no in range(2, len(ids) + len(used) + 2) if (name := f"{id}-{no}") not in used)
        used.add(new)
        return new

    return rename
