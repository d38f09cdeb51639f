"""Names that a pattern matches, to try two policies on: a few for each pattern, made from its own letters.

Only what patterns of tool names are written with is understood: letters, `.`, classes, groups, alternatives and
repetition. What is made is matched by RE2 afterwards, so that a sample is never wrong; of other patterns there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from stateward.govern.pattern import compile_pattern

MOST = 24
"""Samples of one pattern."""
_REPEATS = {"*": (0, 2), "+": (1, 2), "?": (0, 1)}
_ANY = "xz"
_ESCAPED = {"d": "07", "w": _ANY}


def samples(pattern: str) -> tuple[str, ...]:
    """Make names that a pattern matches.

    Args:
        pattern: An RE2 pattern.

    Returns:
        Some names; none if the pattern is written in a way that is not understood.
    """
    try:
        made, rest = _alternatives(pattern)
    except (ValueError, IndexError, RecursionError):
        return ()
    if rest:
        return ()
    matches = compile_pattern(pattern).fullmatch
    return tuple(name for name in dict.fromkeys(made) if name and matches(name))[:MOST]


def _alternatives(text: str) -> tuple[list[str], str]:
    """Read alternatives up to the end, or to the bracket that closes them."""
    found: list[str] = []
    while True:
        made, text = _sequence(text)
        found += made
        if not text.startswith("|"):
            return found, text
        text = text[1:]


def _sequence(text: str) -> tuple[list[str], str]:
    made = [""]
    while text and text[0] not in "|)":
        part, text = _part(text)
        part, text = _repeated(part, text)
        made = _joined(made, part)
    return made, text


def _part(text: str) -> tuple[list[str], str]:
    first, rest = text[0], text[1:]
    if first == "(":
        inner, rest = _alternatives(rest.removeprefix("?:"))
        if not rest.startswith(")"):
            raise ValueError(text)
        return inner, rest[1:]
    if first == "[":
        return _set(rest)
    if first == "\\" and rest[0].isalnum() and rest[0] not in _ESCAPED:
        raise ValueError(text)
    if first == "\\":
        return list(_ESCAPED.get(rest[0], rest[0])), rest[1:]
    if first in "^$":
        return [""], rest
    return list(_ANY if first == "." else first), rest


def _set(text: str) -> tuple[list[str], str]:
    """Take the first and last of a set's letters; of a negated one some that may be in it."""
    end = text.index("]", 1)
    inner, rest = text[:end], text[end + 1 :]
    if inner.startswith("^"):
        return list(f"{_ANY}0"), rest
    letters = inner.replace("\\w", _ANY).replace("\\d", "07").replace("\\", "")
    return [letters[0], letters[-1]], rest


def _repeated(part: Sequence[str], text: str) -> tuple[list[str], str]:
    least, most = 1, 1
    if text[:1] in _REPEATS and text:
        least, most = _REPEATS[text[0]]
        text = text[1:].removeprefix("?")
    elif text.startswith("{"):
        counts, _, text = text[1:].partition("}")
        first, comma, last = counts.partition(",")
        least = int(first)
        most = int(last) if last else least + bool(comma)
    made: list[str] = []
    for count in dict.fromkeys((least, most)):
        repeated = [""]
        for _ in range(count):
            repeated = _joined(repeated, part)
        made += repeated
    return list(dict.fromkeys(made)), text


def _joined(before: Iterable[str], after: Iterable[str]) -> list[str]:
    return ["".join(pair) for pair in product(tuple(before)[:MOST], tuple(after)[:MOST])][:MOST]
