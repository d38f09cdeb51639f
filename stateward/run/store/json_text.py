"""JSON as the tables store it: strict, compact, and loud about what is no JSON."""

from __future__ import annotations

import json
from typing import Any

from stateward.errors import CodecError

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def write_json(value: object, *, where: str) -> str:
    """Turn a JSON-like value into text.

    Args:
        value: None, bool, int, finite float, str, or lists, tuples and string-keyed mappings of these.
        where: What the value is, for the message.

    Returns:
        Compact JSON in UTF-8 order of the keys given.

    Raises:
        CodecError: The value holds something that is no JSON.
    """
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError) as cause:
        raise CodecError(
            f"A value of type `{type(value).__name__}` cannot be stored as JSON: {cause}",
            where=where,
            fix="Use only None, booleans, numbers, strings, lists and dicts with string keys.",
        ) from cause


def read_json(text: str | None) -> Any:  # JSON is untyped until its reader has looked at it
    """Turn stored text back into a value.

    Args:
        text: What `write_json` made, or None for an empty column.

    Returns:
        The value; None for an empty column.

    Raises:
        CodecError: The stored text is no JSON: someone else wrote to the table.
    """
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError as cause:
        raise CodecError(
            f"Stored text is no JSON: {cause}", fix="Restore the row from a backup of the database."
        ) from cause
