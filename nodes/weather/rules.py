"""The rules of `graphs.weather`, which decide in place of a model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from nodes.react.turn import Seen, Turn, calling, turn
from nodes.weather.thermometer import READINGS, city_in

Decide = Callable[[Sequence[BaseMessage]], AIMessage]
SQUARE = re.compile(r"\bsquare", re.IGNORECASE)
FAHRENHEIT = re.compile(r"\bfahrenheit\b|°\s*F\b", re.IGNORECASE)
LETTERS = 2000
"""How much of a question is read."""
ASK_CITY = f"Which city? I can read the thermometers in {', '.join(READINGS)}."


def spoken(messages: Sequence[BaseMessage]) -> AIMessage:
    """Read the thermometer when a city is named; work on what was read last, also in an earlier turn; answer in words.

    Args:
        messages: The conversation as a model is sent it.

    Returns:
        The reply, with a call or without.
    """
    now = turn(messages)
    wanted = _next(now)
    return AIMessage(_words(now)) if wanted is None else calling(messages, wanted)


def recorded(messages: Sequence[BaseMessage]) -> AIMessage:
    """Do the same, and answer with a record of the words, the number and its unit.

    Args:
        messages: As for `spoken`.

    Returns:
        The reply, with a call or without.
    """
    now = turn(messages)
    wanted = _next(now)
    if wanted is not None:
        return calling(messages, wanted)
    return AIMessage(json.dumps({"answer": _words(now), **_number(now)}, ensure_ascii=False))


def _words(now: Turn) -> str:
    return " ".join(map(_told, now.seen)) or ASK_CITY


def _number(now: Turn) -> dict[str, Any]:
    """The number that was told last."""
    last = now.seen[-1] if now.seen else None
    if last is None or not last.ok:
        return {"unit": "none"}
    if last.name == "get_temperature":
        return {"value": json.loads(last.text)["celsius"], "unit": "celsius"}
    return {"value": float(last.text), "unit": "fahrenheit" if last.name == "to_fahrenheit" else "none"}


def _next(now: Turn) -> tuple[str, dict[str, Any]] | None:
    """The call that the question still needs; None when it needs none, or the last one failed."""
    question, made = now.question[:LETTERS], {one.name for one in now.seen}
    if now.is_last or any(not one.ok for one in now.seen):
        return None
    city = city_in(question)
    if city and "get_temperature" not in made:
        return "get_temperature", {"city": city}
    read = now.latest("get_temperature")
    if read is None:
        return None
    celsius = json.loads(read.text)["celsius"]
    if SQUARE.search(question) and "calculate" not in made:
        return "calculate", {"expression": f"{celsius} ** 2"}
    if FAHRENHEIT.search(question) and "to_fahrenheit" not in made:
        return "to_fahrenheit", {"celsius": celsius}
    return None


def _told(seen: Seen) -> str:
    if not seen.ok:
        return f"I could not find out: {seen.text}"
    if seen.name == "get_temperature":
        read = json.loads(seen.text)
        return f"It is {read['celsius']} °C in {read['city']}."
    if seen.name == "to_fahrenheit":
        return f"{seen.args['celsius']} °C is {seen.text} °F."
    return f"{seen.args['expression'].removesuffix(' ** 2')} squared is {seen.text}."
