"""Whether a checkpoint can keep a value: what it cannot is refused before the commit, which would fail on it for good.

The saver at hand decides, with the serializer that it will use. A value of a class of the user's has to come out again
as well: one that cannot be made from what is stored would end every later reading of the session.
"""

from __future__ import annotations

from enum import Enum
from typing import cast

from langgraph.checkpoint.serde.base import SerializerProtocol

from stateward.errors import CodecError, UpdateRefused
from stateward.run.store.serializer import StrictSerializer

_FREE = frozenset((str, float, bool, type(None)))
"""Types whose values every serializer takes; a subclass of one is another type."""
_SHORT = 8
"""A longer list is looked at faster by packing it."""
_BITS = 63
"""Integers that every serializer takes: signed, of 64 bits."""


def refuse_unkept(value: object, *, key: str, where: str, serde: SerializerProtocol, again: bool = True) -> None:
    """Refuse a value that a checkpoint cannot keep.

    Args:
        value: The value, in the form that is committed.
        key: Its state key, for the message.
        where: The state path, for the message.
        serde: What the checkpoints are written with.
        again: Whether it has to come out again; messages are known to.

    Raises:
        UpdateRefused: It cannot be kept.
    """
    if _is_simple(value) or _is_flat(value):
        return
    try:
        kept = serde.dumps_typed(value)
        if again and isinstance(serde, StrictSerializer) and serde.holds_classes(kept):
            serde.loads_typed(kept)
    except Exception as cause:  # whatever a class or a serializer raises, the commit would raise it
        told = cause if isinstance(cause, CodecError) else None
        raise UpdateRefused(
            f"The update of `{key}` cannot be kept in a checkpoint: {_why(cause)}",
            where=where,
            fix=told.fix if told else "Keep plain data in the state, and everything else in the context.",
            key=key,
        ) from cause


def _is_simple(value: object) -> bool:
    if type(value) in _FREE:
        return True
    return isinstance(value, int) and not isinstance(value, Enum) and value.bit_length() <= _BITS


def _is_flat(value: object) -> bool:
    """Whether it is a short list of simple values: the commonest update of a reducer, seen without packing it."""
    if type(value) is not list:
        return False
    items = cast("list[object]", value)
    return len(items) <= _SHORT and all(map(_is_simple, items))


def _why(cause: Exception) -> str:
    if isinstance(cause, CodecError):
        return str(cause.__cause__ or cause.what)
    return f"{type(cause).__name__}: {cause}"
