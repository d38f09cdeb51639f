"""What a member sees of a conversation that was handed over to it: a view, while the conversation itself stays whole.

However it is cut, every call in it has its answer right behind it: calls and results are left out together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from stateward.teams.conversation import has_calls


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the member sees of what was said before the handoff."""

    mode: str
    """`full`, `filtered` or `summary`."""
    behind: str
    """The id of the message that answers the handoff; what comes behind its reply is seen as it is."""
    by: str
    """Who handed over."""
    note: str
    """What the other one said for it; may be empty."""

    @property
    def content(self) -> dict[str, Any]:
        """It as plain JSON, for the member's record."""
        return asdict(self)


def seen(messages: Sequence[BaseMessage], view: View) -> Sequence[BaseMessage]:
    """Return a conversation as a member sees it.

    Args:
        messages: The whole conversation.
        view: What the member sees of what was before it.

    Returns:
        The same, or messages in its place; what came behind the handoff is as it is.
    """
    cut = _behind(messages, view.behind)
    if view.mode == "full" or cut == 0:
        return messages
    before, after = messages[:cut], messages[cut:]
    kept = list(_filtered(before)) if view.mode == "filtered" else _summarised(before, view)
    return [*kept, *_note(kept, view), *after]


def _behind(messages: Sequence[BaseMessage], id: str) -> int:
    """The place behind a handoff's reply and all its answers; 0 when the history was pruned up to there."""
    place = next((place for place, message in enumerate(messages) if message.id == id), None)
    if place is None:
        return 0
    while place < len(messages) and isinstance(messages[place], ToolMessage):
        place += 1
    return place


def _filtered(messages: Sequence[BaseMessage]) -> Iterator[BaseMessage]:
    for message in messages:
        if isinstance(message, ToolMessage):
            continue
        if not has_calls(message):
            yield message
        elif message.text.strip():
            yield AIMessage(content=message.text, name=message.name, id=message.id)


def _summarised(messages: Sequence[BaseMessage], view: View) -> list[BaseMessage]:
    last = next((message for message in reversed(messages) if message.type == "human"), None)
    kinds = Counter(message.type for message in messages if message is not last)
    counted = ", ".join(f"{count} of {kind}" for kind, count in sorted(kinds.items())) or "nothing"
    told = HumanMessage(content=f"(What was said before is left out: {counted}.)")
    return [*(() if view.note else (told,)), *(() if last is None else (last,))]


def _note(kept: Sequence[BaseMessage], view: View) -> list[BaseMessage]:
    """The words of who handed over; without any, something to answer to where the last word is a member's own."""
    if view.note:
        return [HumanMessage(content=f"{view.by} hands over to you: {view.note}")]
    is_answered = not kept or kept[-1].type == "ai"
    return [HumanMessage(content=f"{view.by} hands over to you.")] if is_answered else []
