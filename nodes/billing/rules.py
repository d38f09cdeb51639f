"""The rules of `graphs.billing`, which decide in place of the specialist's model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from nodes.react.turn import Seen, Turn, calling, turn

Decide = Callable[[Sequence[BaseMessage]], AIMessage]
LETTERS = 2000
"""How much of a message is read."""
TOPICS: Mapping[str, re.Pattern[str]] = {
    "duplicate charge": re.compile(r"\b(?:twice|double|duplicate)", re.IGNORECASE),
    "pro plan": re.compile(r"\bpro\b", re.IGNORECASE),
    "refund": re.compile(r"\brefund|\bmoney back\b|\bgive it back\b", re.IGNORECASE),
}
"""What a customer may want, and the words that tell."""
READING: Mapping[str, str] = {"duplicate charge": "list_charges", "pro plan": "show_plan"}
"""Topic to the tool that looks into it."""
GIVE_BACK = "give_back"


def topics_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the topics that texts are about.

    Args:
        texts: What a customer wrote.
    """
    read = [text[:LETTERS] for text in texts]
    return tuple(topic for topic, words in TOPICS.items() if any(map(words.search, read)))


def specialist(tools: Iterable[str]) -> Decide:
    """Make the rules of a specialist.

    Args:
        tools: Names of the tools it has.

    Returns:
        What it decides on a conversation: calls, or what it knows.
    """
    owned = frozenset(tools)

    def decide(messages: Sequence[BaseMessage]) -> AIMessage:
        """Look into what the last message is about; then say what is known of the case, and what was found."""
        now = turn(messages)
        made = {one.name for one in now.seen}
        wanted = [call for call in _calls(now) if call[0] in owned and call[0] not in made]
        if wanted and not now.is_last:
            return calling(messages, *wanted)
        known = ", ".join(topics_in(now.asked)) or "nothing that is about billing"
        found = [*map(_told, now.seen), *_left_open(now, owned)]
        return AIMessage(" ".join((f"I know of: {known}.", *found)))

    return decide


def _calls(now: Turn) -> list[tuple[str, dict[str, Any]]]:
    topics = topics_in([now.question])
    reading: list[tuple[str, dict[str, Any]]] = [(READING[topic], {}) for topic in topics if topic in READING]
    repeated = _repeated(now)
    return [*reading, (GIVE_BACK, {"charge": repeated[0]})] if "refund" in topics and repeated else reading


def _repeated(now: Turn) -> list[str]:
    """The charges that are known to repeat another, from this message or one before."""
    listed = now.latest("list_charges")
    return [] if listed is None else json.loads(listed.text)["duplicates"]


def _left_open(now: Turn, owned: frozenset[str]) -> list[str]:
    if "refund" not in topics_in([now.question]):
        return []
    if GIVE_BACK not in owned:
        return ["A refund needs somebody who may ask a person."]
    return [] if _repeated(now) else ["Which charge is it about?"]


def _told(seen: Seen) -> str:
    if not seen.ok:
        return f"`{seen.name}` did not work: {seen.text}"
    value = json.loads(seen.text)
    if seen.name == "list_charges":
        return f"Charged twice: {', '.join(value['duplicates']) or 'nothing'}."
    if seen.name == "show_plan":
        return f"The plan is {value['plan']}, {value['usd_a_month']:.2f} USD a month."
    return f"{value['charge']} was given back: {value['usd']:.2f} USD."
