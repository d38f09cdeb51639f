"""Whether a value is JSON that every place keeps: tables, journal, checkpoints, and what clients are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

import ormsgpack

from stateward.errors import CodecError
from stateward.run.store.json_text import write_json

DEPTH = 100
"""How deep lists and mappings may lie in each other: what is kept lies in several more, and readers stop somewhere."""


def unkept(value: object) -> str | None:
    """Say why a value could not be kept.

    Args:
        value: Anything.

    Returns:
        The reason: it is no JSON, has a number beyond 64 bits, half a character, a key that is no text, or lies too
        deep; None when it can be.
    """
    try:
        write_json(value, where="a value")
        ormsgpack.packb(value)  # the checkpoint's form
    except CodecError as misfit:
        return str(misfit.__cause__ or misfit.what)
    except (TypeError, ValueError, RecursionError) as misfit:
        return str(misfit)
    return f"it is more than {DEPTH} deep" if _is_deep(value) else None


def _is_deep(value: object) -> bool:
    level: list[object] = [value]
    for _ in range(DEPTH + 1):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return False
    return True


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return cast("Mapping[str, object]", value).values()
    return cast("Iterable[object]", value) if isinstance(value, list | tuple) else ()
