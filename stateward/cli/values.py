"""The keys of a state, for people: conversations line by line, and a short form of all of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard, cast

from langchain_core.messages import AIMessage, BaseMessage

from stateward.cli.rendering import cell

CONVERSATION = "messages"
"""The key that the conversation with the user is kept in; in the others members of a team talk to themselves."""
_RECORDS = "team"
"""Where the blocks of a team keep count."""
_WIDE = 120
"""So many letters of a value are shown in the short form."""


def in_full(values: Mapping[str, Any]) -> dict[str, object]:
    """Write every key of a state, conversations one message a line.

    Args:
        values: The state.
    """
    return {
        f"{key}:": "\n" + "\n".join(map(_line, value)) if _is_conversation(value) else value
        for key, value in values.items()
    }


def in_short(values: Mapping[str, Any]) -> dict[str, object]:
    """Write what matters of a state: the last words to the user in full, other keys in one line.

    Args:
        values: The state.

    Returns:
        The text by key; without the conversations and records that are a team's own.
    """
    others = {key: value for key, value in values.items() if key != _RECORDS and not _is_conversation(value)}
    said: object = values.get(CONVERSATION)
    last = {f"{CONVERSATION}:": said[-1].text} if _is_conversation(said) and said[-1].type == "ai" else {}
    return {**{f"{key}:": _cut(cell(value)) for key, value in others.items()}, **last}


def _is_conversation(value: object) -> TypeGuard[Sequence[BaseMessage]]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return bool(items) and all(isinstance(each, BaseMessage) for each in items)


def _line(message: BaseMessage) -> str:
    who = f"{message.type} {message.name}" if message.name else message.type
    calls = message.tool_calls if isinstance(message, AIMessage) else ()
    parts = [message.text, *(f"-> {each['name']} {json.dumps(each['args'], ensure_ascii=False)}" for each in calls)]
    return f"  {who}: {' '.join(filter(None, parts))}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDE else f"{line[: _WIDE - 1]}…"
