"""One line of `stateward simulate`, read: what is to be done, and with what."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from stateward.errors import InputRefused

Name = Literal["send", "complete", "fail", "wait", "set", "state", "show", "undo", "help", "quit"]
NAMES: tuple[str, ...] = get_args(Name)
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What one line says."""

    name: Name
    event: str = ""
    path: str = ""
    seconds: float = 0.0
    fields: Mapping[str, Any] | None = None
    """Keys of the state, or the data of an event."""


def read(line: str) -> Order:
    """Read one line.

    Args:
        line: What was typed.

    Returns:
        The order.

    Raises:
        InputRefused: It is not understood.
    """
    word, _, rest = line.strip().partition(" ")
    if word not in NAMES:
        raise InputRefused(f"`{word}` is no command", fix=f"Commands: {', '.join(NAMES)}.")
    name, rest = cast("Name", word), rest.strip()
    if name == "wait":
        return Order(name=name, seconds=_seconds(rest))
    if name == "set":
        return Order(name=name, fields=_assignment(rest))
    words, fields = _words(rest)
    if name == "send":
        return Order(name=name, event=_one(words, what="an event"), fields=fields)
    if name == "complete":
        return Order(name=name, path=_one(words) if words else "", fields=fields)
    if name == "fail":
        return _failing(words)
    return Order(name=name)


def _failing(words: list[str]) -> Order:
    """Read `fail [PATH] [EVENT]`: events of an activity's end begin in lower case with one of four words."""
    events = [word for word in words if re.match(r"(error|timeout|fuse|unknown_after_crash)\b", word)]
    paths = [word for word in words if word not in events]
    return Order(name="fail", path=_one(paths) if paths else "", event=_one(events) if events else "")


def _words(rest: str) -> tuple[list[str], Mapping[str, Any] | None]:
    before, brace, after = rest.partition("{")
    return before.split(), _object(brace + after) if brace else None


def _one(words: list[str], *, what: str = "one word") -> str:
    if len(words) != 1:
        raise InputRefused(
            f"{len(words)} words where {what} is expected", fix="`help` shows how each command is written."
        )
    return words[0]


def _object(text: str) -> Mapping[str, Any]:
    value = _json(text)
    if not isinstance(value, dict):
        raise InputRefused(f"`{text}` is no JSON object", fix='Write it as in {"amount": 3}.')
    return cast("dict[str, Any]", value)


def _json(text: str) -> object:
    try:
        return cast(object, json.loads(text))
    except ValueError as broken:
        raise InputRefused(f"`{text}` is no JSON: {broken}", fix="Texts stand in double quotes.") from broken


def _assignment(rest: str) -> Mapping[str, Any]:
    key, sign, value = rest.partition("=")
    if not sign or not key.strip():
        raise InputRefused("`set` needs KEY=JSON", fix='Write it as in set name="Ann" or set amount=3.')
    return {key.strip(): _json(value.strip())}


def _seconds(rest: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", rest)
    if found is None:
        raise InputRefused(f"`{rest}` is no time", fix="Write seconds, or 30s, 5m, 2h, 1d.")
    return float(found[1]) * _UNITS[found[2]]
