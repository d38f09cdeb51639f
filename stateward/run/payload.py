"""What an event from outside carries, in the one form in which it is kept: JSON.

A mailbox, a wait that is resumed and a checkpoint store the same of an event, and whoever takes it reads it from there.
So it has to survive JSON whole, and is refused before anything is committed if it does not. What the chart itself
raises cannot be refused any more: of that the nearest JSON is kept.
"""

from __future__ import annotations

import math
from typing import Any, cast

import ormsgpack
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from stateward.chart.event import Occurrence
from stateward.errors import CodecError, InputRefused
from stateward.run.store.json_text import read_json, write_json

_BITS = 63
"""Integers that every store takes: signed, of 64 bits."""


def payload(event: Occurrence) -> Any:  # JSON
    """Return what is kept of an event that comes from outside.

    Args:
        event: The happening, its data validated against its type.

    Returns:
        The data as JSON: a typed event's fields, dates and the like in pydantic's JSON form.

    Raises:
        InputRefused: The data is no JSON, or a typed event would not come out of it as it went in.
    """
    if isinstance(event.data, BaseModel):
        return _fields(event.name, event.data)
    return _plain(event.name, event.data)


def nearest(value: object) -> Any:  # JSON
    """Return the JSON that is nearest to a value, for what is already there and can only be kept as well as it goes.

    Args:
        value: Anything.

    Returns:
        Models and dataclasses as dictionaries; what has no JSON form, an infinite number for instance, as text.
    """
    try:
        plain = to_jsonable_python(value, by_alias=False, fallback=str)
    except (ValueError, RecursionError):  # bytes that are no text, a circle
        return repr(value).encode(errors="replace").decode()
    try:
        write_json(plain, where="an event")
        ormsgpack.packb(plain)
    except (CodecError, TypeError):
        return _tamed(plain)
    return plain


def _tamed(plain: Any) -> Any:  # JSON, but for its numbers and characters
    if isinstance(plain, dict):
        items = cast("dict[str, Any]", plain).items()
        return {_tamed(key): _tamed(value) for key, value in items}
    if isinstance(plain, list):
        return [_tamed(value) for value in cast("list[Any]", plain)]
    if isinstance(plain, str):
        return plain.encode(errors="replace").decode()
    strange = isinstance(plain, float) and not math.isfinite(plain)
    big = isinstance(plain, int) and plain.bit_length() > _BITS
    return str(cast("object", plain)) if strange or big else plain


def _fields(name: str, data: BaseModel) -> Any:
    """By the fields' own names, and by their aliases where the type is read from these alone."""
    for by_alias in (False, True):
        try:
            fields = data.model_dump(mode="json", by_alias=by_alias, warnings="error")
            restored = type(data).model_validate(fields)
        except PydanticSerializationError as misfit:
            raise _refused(name, str(misfit)) from misfit
        except ValidationError:
            continue
        if restored == data:
            return _plain(name, fields)
    raise _refused(name, f"a `{type(data).__name__}` does not come out of JSON as it went in")


def _plain(name: str, data: object) -> Any:
    try:
        text = write_json(data, where=f"event `{name}`")
        kept = read_json(text)
        ormsgpack.packb(kept)  # the checkpoint's form: no integers beyond 64 bits, no lone surrogates
    except CodecError as misfit:
        raise _refused(name, str(misfit.__cause__ or misfit.what)) from misfit
    except (TypeError, ValueError, RecursionError) as misfit:
        raise _refused(name, str(misfit)) from misfit
    if kept != data:
        raise _refused(name, f"{_short(data)} would come back as {_short(kept)}")
    return kept


def _short(value: object) -> str:
    told = repr(cast("Any", value))
    return told if len(told) <= 60 else f"{told[:57]}..."


def _refused(name: str, why: str) -> InputRefused:
    return InputRefused(
        f"The data of event `{name}` cannot be kept as JSON: {why}",
        fix="Send None, booleans, finite numbers, strings, lists and dicts with string keys, "
        "or declare an `Event` whose fields say how to read them.",
    )
