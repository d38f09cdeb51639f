"""Stored values as plain data, without the types they are made of.

Whoever moves or thins out checkpoints looks at names and versions; the values pass through as they are stored, whether
or not the code that made them can be imported. What is packed again is packed as it was.
"""

from __future__ import annotations

from typing import Any

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


def _unpacked(packed: bytes) -> Any:
    return ormsgpack.unpackb(packed, ext_hook=_kept, option=ormsgpack.OPT_NON_STR_KEYS)


def _kept(code: int, packed: bytes) -> Any:
    return _DeltaSnapshot(_unpacked(packed)) if code == SNAPSHOT else ormsgpack.Ext(code, packed)
