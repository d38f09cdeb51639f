"""Words of the command line that give something to a name: OLD=NEW, KEY=JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from stateward.errors import InputRefused


def pairs(words: Iterable[str], *, option: str, form: str) -> list[tuple[str, str]]:
    """Read words with an equals sign.

    Args:
        words: The words.
        option: The option that they were given with.
        form: What they are to look like, for messages.

    Returns:
        What stands before and behind the first equals sign of each.

    Raises:
        InputRefused: A word has none, or nothing before it.
    """
    read: list[tuple[str, str]] = []
    for word in words:
        name, equals, rest = word.partition("=")
        if not equals or not name:
            raise InputRefused(f"`{word}` is no {form}", where=option, fix=f"Write it as {form}.")
        read.append((name, rest))
    return read


def json_values(words: Iterable[str], *, option: str) -> dict[str, Any]:
    """Read values of state keys.

    Args:
        words: The words, KEY=JSON.
        option: The option that they were given with.

    Returns:
        State key to value.

    Raises:
        InputRefused: A word has another form, or its value is not JSON.
    """
    return {key: _json(key, text, option=option) for key, text in pairs(words, option=option, form="KEY=JSON")}


def _json(key: str, text: str, *, option: str) -> Any:  # any JSON
    try:
        return json.loads(text)
    except ValueError as error:
        what = f"The value of `{key}` is not JSON: {error}"
        raise InputRefused(what, where=option, fix="Write it as in 'text=\"hello\"'.") from error
