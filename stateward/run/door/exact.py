"""Arguments as what they are: containers of their own, and texts and numbers that are exactly that.

What a policy judges is what the tool gets. So nobody may hold on to a list that is changed after it was judged, and a
subclass of `dict`, `str` or `float` may not read differently for the tool than it did for the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, cast

from pydantic import BaseModel, Secret, SecretBytes, SecretStr

_ATOMS = frozenset({str, int, float, bool, type(None)})
_KINDS: tuple[Any, ...] = (list, tuple, set, frozenset)


def exact(value: Any) -> Any:  # arguments are anything
    """Copy containers as deep as they go, and take what a subclass adds to plain values off.

    Args:
        value: What a call was given. Members of enums, models and other objects are left as they are.

    Returns:
        Equal to it, without a container that somebody else holds.

    Raises:
        RecursionError: It is nested too deeply, or contains itself.
    """
    if type(value) in _ATOMS or isinstance(value, Enum):
        return value
    if isinstance(value, str | int | float):
        return _plain(value)
    if isinstance(value, dict):
        held = cast("dict[Any, Any]", value)
        return dict(map(_pair, dict[Any, Any].items(held)))
    for kind in _KINDS:
        if isinstance(value, kind):
            # By the type's own iterator, whatever the subclass makes of it.
            return kind(map(exact, kind.__iter__(value)))
    return value


def _pair(pair: tuple[Any, Any]) -> tuple[Any, Any]:
    return exact(pair[0]), exact(pair[1])


def is_hiding(value: object) -> bool:
    """Whether a value holds something that is left out, or shown as stars, where it is written as JSON.

    Rules and people would judge what is written, and one approval would be good for any secret.

    Args:
        value: A validated argument. Secrets of pydantic and fields that a model excludes are hidden.
    """
    if type(value) in _ATOMS:
        return False
    if isinstance(value, Mapping):
        return any(map(is_hiding, cast("Mapping[object, object]", value).values()))
    if isinstance(value, list | tuple | set | frozenset):
        return any(map(is_hiding, cast("list[object]", value)))
    if isinstance(value, BaseModel):
        known = type(value).model_fields.items()
        return any(field.exclude or is_hiding(getattr(value, name)) for name, field in known)
    return isinstance(value, Secret | SecretStr | SecretBytes)


def _plain(value: str | float) -> str | float:
    """Ask the type that JSON knows, not what a subclass makes of it."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool):
        return value
    return int.__int__(value) if isinstance(value, int) else float.__float__(value)
