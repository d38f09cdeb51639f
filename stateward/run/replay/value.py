"""State values as readable JSON: messages by their fields, anything else that is no JSON as the saver stores it.

| form | value |
|---|---|
| plain JSON | itself |
| `{"$message": {…}}` | a message |
| `{"$stored": [KIND, BASE64]}` | anything else, as the checkpoint stores it |
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any, cast

from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
from langgraph.checkpoint.serde.base import SerializerProtocol

from stateward.errors import CodecError

_MESSAGE, _STORED = "$message", "$stored"


def written(value: Any, serde: SerializerProtocol) -> Any:
    """Bring a value into JSON.

    Args:
        value: A value of a channel.
        serde: The saver's serializer.

    Raises:
        CodecError: It holds a type that could not be loaded again.
    """
    kind = cast("type[Any]", type(value))
    if value is None or kind in (bool, int, str) or (kind is float and math.isfinite(value)):
        return value
    if kind is list:
        return [written(each, serde) for each in cast("list[Any]", value)]
    if kind is dict and all(type(key) is str and key[:1] != "$" for key in cast("dict[Any, Any]", value)):
        return {key: written(each, serde) for key, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, BaseMessage):
        told = message_to_dict(value)
        if _is_plain(told) and serde.dumps_typed(messages_from_dict([told])[0]) == serde.dumps_typed(value):
            return {_MESSAGE: told}
    stored, data = serde.dumps_typed(value)
    return {_STORED: [stored, base64.b64encode(data).decode()]}


def read(value: Any, serde: SerializerProtocol) -> Any:
    """Read a value out of JSON.

    Args:
        value: From `written`.
        serde: The saver's serializer.

    Raises:
        CodecError: It is none of the forms, or holds a type that is not allowed.
    """
    if isinstance(value, list):
        return [read(each, serde) for each in cast("list[Any]", value)]
    if not isinstance(value, Mapping):
        return value
    form = cast("Mapping[str, Any]", value)
    if _MESSAGE in form:
        return messages_from_dict([form[_MESSAGE]])[0]
    if _STORED in form:
        kind, text = form[_STORED]
        return serde.loads_typed((kind, base64.b64decode(text)))
    strange = [key for key in form if key[:1] == "$"]
    if strange:
        raise CodecError(f"A value has the form `{strange[0]}`", fix="Read it with the release that wrote it.")
    return {key: read(each, serde) for key, each in form.items()}


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        inside = cast("dict[Any, Any]", value)
        return all(type(key) is str for key in inside) and all(_is_plain(each) for each in inside.values())
    if isinstance(value, list):
        return all(_is_plain(each) for each in cast("list[Any]", value))
    return value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))
