"""JSON as the tables store it: strict, compact, and loud about what is no JSON."""

from __future__ import annotations

import json
from typing import Any

from stateward.errors import CodecError
from stateward.govern.fingerprint import is_unicode, written
from stateward.run.store.cipher import TextCipher

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ESCAPING = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def write_json(value: object, *, where: object) -> str:
    """Turn a JSON-like value into text.

    Args:
        value: None, bool, int, finite float, str, or lists, tuples and string-keyed mappings of these.
        where: What the value is, for the message; its text is asked for when there is one.

    Returns:
        Compact JSON in UTF-8 order of the keys given.

    Raises:
        CodecError: The value holds something that is no JSON.
    """
    plain = written(value)
    if plain is not None:
        return plain.decode()
    try:
        text = _ENCODER.encode(value)
        # A database takes no half of a character, and JSON has an escape for each.
        return text if is_unicode(text) else _ESCAPING.encode(value)
    except (TypeError, ValueError) as cause:
        raise CodecError(
            f"A value of type `{type(value).__name__}` cannot be stored as JSON: {cause}",
            where=str(where),
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


def write_sealed(
    value: object, *place: object, cipher: TextCipher, where: object, text: str | None = None
) -> str | None:
    """Turn a JSON-like value into the text of a column that holds what is the user's.

    Args:
        value: As for `write_json`.
        place: Where the column stands; the same must be said to read it.
        cipher: Seals the text.
        where: As for `write_json`.
        text: The value as `write_json` has it, where that is at hand.

    Returns:
        The text; None for None.

    Raises:
        CodecError: The value holds something that is no JSON.
    """
    if value is None:
        return None
    return cipher.seal_text(write_json(value, where=where) if text is None else text, *place)


def read_sealed(text: str | None, *place: object, cipher: TextCipher) -> Any:  # JSON, as `read_json`
    """Turn the text of such a column back into the value; see `write_sealed`.

    Raises:
        CodecError: The text was not sealed for this place, or is no JSON.
    """
    return None if text is None else read_json(cipher.open_text(text, *place))
