"""What JSON of a database holds, and how the rest is kept beside it.

LangGraph's PostgreSQL saver puts plain values into a checkpoint's JSON, all others into rows of bytes. PostgreSQL takes
no NUL and no half of a surrogate pair in JSON, no infinite number and no NaN, and gives a whole number back as an
integer and a negative zero as zero. What would not come back as it went in is handed over as no plain value.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, CheckpointMetadata

from stateward.govern.fingerprint import is_unicode
from stateward.run.store.serializer import Apart

_BYTES = range(-(2**63), 2**64)
"""Integers that rows of bytes hold; another one is refused as SQLite refuses it."""

_ENCODER = json.JSONEncoder(allow_nan=False)
_NAMES = frozenset({"thread_id", "checkpoint_ns", "checkpoint_id"})


def inlined(checkpoint: Checkpoint, new: Collection[str]) -> Checkpoint:
    """Return a checkpoint whose plain values are those that JSON holds.

    Args:
        checkpoint: The checkpoint.
        new: The channels that changed with it: the others were stored before, as they are.
    """
    values: Mapping[str, Any] = checkpoint["channel_values"]
    apart = {
        channel: Apart(value)
        for channel, value in values.items()
        if not in_json(value) or (channel in new and type(value) is int and value not in _BYTES)
    }
    return cast("Checkpoint", {**checkpoint, "channel_values": {**values, **apart}}) if apart else checkpoint


def in_json(value: object) -> bool:
    """Whether a value may be in a checkpoint's JSON: it comes back as it went in, or is no plain value.

    Args:
        value: The value of a channel.
    """
    if isinstance(value, str):
        return type(value) is str and is_text(value)
    if isinstance(value, float):
        return type(value) is float and _comes_back(value)
    return type(value) in (int, bool) or not isinstance(value, int)


def is_text(value: str) -> bool:
    """Whether PostgreSQL takes a text.

    Args:
        value: The text.
    """
    return "\0" not in value and is_unicode(value)


def _comes_back(value: float) -> bool:
    if not math.isfinite(value):
        return False
    return str(value) != "-0.0" and not (value.is_integer() and "e" in str(value))


def plainly(config: RunnableConfig, metadata: CheckpointMetadata) -> tuple[RunnableConfig, CheckpointMetadata]:
    """Return what a checkpoint's metadata is made of as JSON of every database takes it.

    Args:
        config: LangGraph puts texts and numbers of it into the metadata.
        metadata: The step's own.
    """
    noted = [_texts(config.get(name) or {}) for name in ("metadata", "configurable")]
    if _is_easy(metadata, *noted) or _is_plain([metadata, *noted]):
        return config, metadata
    parts: dict[str, Any] = {name: _noted(part) for name in ("metadata", "configurable") if (part := config.get(name))}
    return cast("RunnableConfig", {**config, **parts}), cast("CheckpointMetadata", told(dict(metadata)))


def _texts(part: Mapping[str, Any]) -> dict[str, Any]:
    """What LangGraph notes of a part of a config."""
    return {key: value for key, value in part.items() if isinstance(value, str | float)}


def _is_easy(*parts: Mapping[str, Any]) -> bool:
    """Whether there is nothing but short names, texts of ASCII and integers, as in nearly every step."""
    texts: list[str] = []
    for part in parts:
        texts += part
        for value in part.values():
            if type(value) is str:
                texts.append(value)
            elif value and type(value) is not int:
                return False
    try:
        joined = "".join(texts)
    except TypeError:
        return False
    return joined.isascii() and "\0" not in joined


def _is_plain(value: object) -> bool:
    """Whether every database takes it as it is, which one run of the encoder tells of nearly all that comes."""
    try:
        text = _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return "\\u0000" not in text and "\\ud" not in text


def _noted(part: Mapping[str, Any]) -> dict[str, Any]:
    """What names a checkpoint stays; what is neither text nor number is not noted."""
    return {
        key if key in _NAMES else told(key): told(value)
        if isinstance(value, str | float) and key not in _NAMES
        else value
        for key, value in part.items()
    }


def told(value: Any) -> Any:
    """Return metadata as JSON of every database takes it: nobody goes on from it, so the nearest is kept.

    Args:
        value: A mapping, or what is in one; itself when there is nothing to be done.
    """
    if isinstance(value, str):
        return value if is_text(value) else value.replace("\0", "").encode(errors="ignore").decode()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if type(value) is dict:
        inside = cast("dict[Any, Any]", value)
        fitting = {told(key): told(each) for key, each in inside.items()}
        same = all(fitting.get(key, fitting) is each for key, each in inside.items())
        return inside if same else fitting
    if type(value) is list:
        return [told(each) for each in cast("list[Any]", value)]
    return value
