"""Stored values as plain data, without the types they are made of.

Whoever moves or thins out checkpoints looks at names and versions; the values pass through as they are stored, whether
or not the code that made them can be imported. What is packed again is packed as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import ormsgpack
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot  # pyright: ignore[reportPrivateUsage]

from stateward.errors import CodecError
from stateward.run.store.serializer import SNAPSHOT


class OpaqueSerializer(JsonPlusSerializer):
    """LangGraph's msgpack, whose extension values stay packed; a full copy of a delta channel is told apart."""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:  # any channel value
        """Load a value.

        Args:
            data: The kind of encoding, and the bytes.

        Returns:
            Plain data, with extension values as they are stored.

        Raises:
            CodecError: The encoding is unknown, or the data is damaged.
        """
        kind, packed = data
        if kind in ("null", "bytes", "bytearray"):
            return super().loads_typed(data)
        if kind != "msgpack":
            raise CodecError(
                f"Stored data has the encoding `{kind}`", fix="Use the release of LangGraph that wrote it."
            )
        try:
            return _unpacked(packed)
        except ValueError as cause:
            raise CodecError(
                f"Stored data is no msgpack: {cause}", fix="Restore the database from a backup."
            ) from cause


def replaced(value: Any, *, text: Callable[[str], str], form: Callable[[dict[Any, Any]], dict[Any, Any]]) -> Any:
    """Replace texts wherever they stand in a value, also inside extension values, which stay packed.

    Args:
        value: What `OpaqueSerializer` loaded.
        text: Returns what stands for a text.
        form: Returns what stands for a dict, whose keys and values are replaced already.

    Returns:
        The value with the replacements; what holds none is as it was.
    """

    def within(part: Any) -> Any:
        if isinstance(part, str):
            return text(part)
        if isinstance(part, dict):
            items = cast("dict[Any, Any]", part).items()
            return form({within(key): within(one) for key, one in items})
        if isinstance(part, list):
            return [within(one) for one in cast("list[Any]", part)]
        if isinstance(part, _DeltaSnapshot):
            return _DeltaSnapshot(within(part.value))
        return extension(part) if isinstance(part, ormsgpack.Ext) else part

    def extension(part: ormsgpack.Ext) -> ormsgpack.Ext:
        code, packed = ormsgpack.unpackb(ormsgpack.packb(part), ext_hook=lambda code, packed: (code, packed))
        try:
            inner = _unpacked(packed)
        except ValueError:
            return part  # nobody's msgpack
        new = within(inner)
        return part if new == inner else ormsgpack.Ext(code, OpaqueSerializer().dumps_typed(new)[1])

    return within(value)


def _unpacked(packed: bytes) -> Any:
    return ormsgpack.unpackb(packed, ext_hook=_kept, option=ormsgpack.OPT_NON_STR_KEYS)


def _kept(code: int, packed: bytes) -> Any:
    return _DeltaSnapshot(_unpacked(packed)) if code == SNAPSHOT else ormsgpack.Ext(code, packed)
