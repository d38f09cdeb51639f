"""The types a checkpoint may hold: those the state schema declares, and no others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from enum import Enum
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel
from typing_extensions import is_typeddict


def allowlist(types: dict[str, Any]) -> frozenset[tuple[str, str]]:
    """Collect the classes that a state schema declares, at any depth.

    Args:
        types: State key to annotation.

    Returns:
        Module and name of every dataclass, Pydantic model and enum.

    Source: DESIGN decision 14; LangGraph derives the same, but only when an environment variable is set.
    """
    seen: set[Any] = set()
    for declared in types.values():
        for _ in _classes(declared, seen):
            pass
    return frozenset(
        (kind.__module__, kind.__qualname__) for kind in seen if isinstance(kind, type) and _is_listed(kind)
    )


def _is_listed(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) or issubclass(kind, BaseModel | Enum)


def _classes(declared: Any, seen: set[Any]) -> Iterator[Any]:
    arguments = get_args(declared)
    if arguments:
        for argument in arguments:
            yield from _classes(argument, seen)
        return
    if not isinstance(declared, type) or declared in seen:
        return
    seen.add(declared)
    yield declared
    if is_typeddict(declared) or dataclasses.is_dataclass(declared) or issubclass(declared, BaseModel):
        for inner in get_type_hints(declared, include_extras=False).values():
            yield from _classes(inner, seen)
