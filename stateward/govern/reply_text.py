"""Reading an object out of what a model wrote in words: JSON with text around it, or lines of `key: value`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import cast

LONGEST = 100_000
"""Characters of a reply that are read."""
_MOST_STARTS = 1_000
"""Braces at which reading is begun: a text of nothing but braces costs no more."""


def object_in(text: str) -> Mapping[str, object] | None:
    """Find the JSON object of a reply.

    Args:
        text: What a model wrote, code fences and explanations included.

    Returns:
        Of the objects in it the one with most keys, the last of several; None if there is none.
    """
    found = list(_objects(text[:LONGEST]))
    return max(reversed(found), key=len, default=None)


def _objects(text: str) -> Iterator[Mapping[str, object]]:
    decoder = json.JSONDecoder()
    place = text.find("{")
    for _ in range(_MOST_STARTS):
        if place < 0:
            return
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield cast("dict[str, object]", value)
        place = text.find("{", end)


def lines_in(text: str) -> dict[str, str]:
    """Read lines of `key: value`, as small models write them.

    Args:
        text: What a model wrote.

    Returns:
        Key to value without marks of lists, emphasis and quotation; the first line of a key counts.
    """
    found: dict[str, str] = {}
    for line in text[:LONGEST].splitlines():
        key, colon, value = line.partition(":")
        name, said = key.strip(" \t*-#_`\"'"), value.strip(" \t*_`\"',")
        if colon and name and said:
            found.setdefault(name, said)
    return found
