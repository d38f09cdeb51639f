"""Canonical JSON and the digests made from it: fingerprints of calls, effect keys, hashes of policies.

Canonical JSON is RFC 8785. Two kinds of value that models do send have no place in it: integers beyond
2^53 and strings with lone surrogates. They are written as tagged objects (`{"$int": "…"}`,
`{"$utf16": "…"}`), and so are not-a-number and the infinities; a key of the caller that starts with `$`
gets a second `$`, so that no two different values share a text.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

import orjson
import rfc8785

from stateward.errors import CodecError

_SAFE_INTEGER = 2**53 - 1
_kind_of: Callable[[object], object] = type
_SORTED = orjson.OPT_SORT_KEYS
_TEXT = frozenset({str})
_PLAIN: frozenset[object] = frozenset({str, bool, type(None)})


def canonical(value: object) -> bytes:
    """Write JSON-like data as canonical JSON.

    Args:
        value: None, booleans, numbers, strings, and lists, tuples or string-keyed mappings of these.

    Returns:
        UTF-8 bytes; equal values give equal bytes whatever the order of their keys.

    Raises:
        CodecError: `value` holds something that is not JSON-like, or a key that is not valid text.

    Source:
        RFC 8785, JSON Canonicalization Scheme.
    """
    # The canonical writer is slow, and each call writes several records: where nothing needs it, a plain one gives the
    # same text. A test compares the two.
    text = written(value, sort=True)
    if text is not None and text.isascii() and b'"$' not in text:
        return text
    return rfc8785.dumps(cast("dict[str, None]", _plain(value)))


def written(value: object, *, sort: bool = False) -> bytes | None:
    """Write plain data as compact JSON, quickly.

    Args:
        value: Any value.
        sort: Whether keys are sorted.

    Returns:
        UTF-8 bytes, of which a reader makes the very same value; None for what takes more care: numbers that are no
        small integers, keys that are no texts, half characters, subclasses, circles, whatever is no JSON.
    """
    try:
        text = orjson.dumps(value, option=_SORTED if sort else None)
    except (TypeError, RecursionError):
        return None
    # The writer itself takes dates, enumerations and numbers that are none. It has come to an end: there is no circle.
    return text if _is_simple(value) else None


def _is_simple(value: Any) -> bool:  # anything, and asked so often that a `cast` would be felt
    """Whether all writers know one way only to write something, if it is ASCII and no key begins with `$`."""
    todo: list[Collection[Any]] = [(value,)]
    for values in todo:  # it grows: a call for each part would cost several times as much
        if _PLAIN.issuperset(map(type, values)):
            continue
        for each in values:
            kind = _kind_of(each)
            if kind is dict:
                if not _TEXT.issuperset(map(type, each)):
                    return False
                todo.append(each.values())
            elif kind is list or kind is tuple:
                todo.append(each)
            elif kind not in _PLAIN and not (kind is int and -_SAFE_INTEGER <= each <= _SAFE_INTEGER):
                return False
    return True


def digest(value: object) -> str:
    """Hash JSON-like data.

    Args:
        value: What `canonical` takes.

    Returns:
        SHA-256 of the canonical JSON, in lower-case hexadecimal.
    """
    return hashlib.sha256(canonical(value)).hexdigest()


def fingerprint(name: str, *, arguments: Mapping[str, object]) -> str:
    """Identify a call by what it asks for.

    Args:
        name: The tool's or the model role's name.
        arguments: The arguments, JSON-like.

    Returns:
        SHA-256 in hexadecimal, equal for equal calls.
    """
    return measured(name, arguments=arguments)[0]


def measured(name: str, *, arguments: Mapping[str, object]) -> tuple[str, int]:
    """Identify a call as `fingerprint` does, and measure it.

    Args:
        name: As for `fingerprint`.
        arguments: As for `fingerprint`.

    Returns:
        The fingerprint, and the bytes of the canonical JSON: at least one for each letter and each value.
    """
    text = canonical({"tool": name, "arguments": arguments})
    return hashlib.sha256(text).hexdigest(), len(text)


def effect_key(session: str, *, run: str, branch: str, path: str, activation: int, call: int) -> str:
    """Identify a call by where it is made; the idempotency key that tools receive.

    Args:
        session: The session's id.
        run: The run's id.
        branch: The branch's name.
        path: The path of the state that makes the call.
        activation: Which entry into that state this is.
        call: The number of the call inside the activation.

    Returns:
        SHA-256 in hexadecimal.
    """
    return digest([session, run, branch, path, activation, call])


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, Mapping):
        return {_key(key): _plain(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[object]", value)]
    raise _not_json(value)


def _number(value: float) -> object:
    if isinstance(value, int):
        return int(value) if abs(value) <= _SAFE_INTEGER else {"$int": str(int(value))}
    return float(value) if math.isfinite(value) else {"$float": str(float(value))}


def as_number(value: object) -> object:
    """Return the integer that `canonical` wrote as a tag, such as the activation of a nested agent; else the value.

    Args:
        value: Read from canonical JSON.
    """
    if not isinstance(value, dict):
        return value
    tagged = cast("dict[str, object]", value)
    return int(str(tagged["$int"])) if tagged.keys() == {"$int"} else tagged


def _text(value: str) -> object:
    if is_unicode(value):
        return str(value)
    return {"$utf16": value.encode("utf-16-be", "surrogatepass").hex()}


def _key(value: object) -> str:
    if not isinstance(value, str) or not is_unicode(value):
        raise _not_json(value)
    return f"${value}" if value.startswith("$") else str(value)


def is_unicode(text: str) -> bool:
    """Whether a text has whole characters only, and no lone surrogate.

    Args:
        text: The text.
    """
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _not_json(value: object) -> CodecError:
    return CodecError(
        f"`{value!r}` of type `{type(value).__name__}` has no canonical JSON",
        fix="Pass None, booleans, numbers, strings, lists, tuples and string-keyed mappings.",
        value=value,
    )
