"""Tools for a model that knows none: offered as a JSON schema of name and arguments, and packed again as tool calls.

The server holds its model to a schema, but does not bound a text by itself: without `maxLength` a small model goes on
until its tokens are used up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

TEXT = 40
"""The longest text, in characters, where a schema does not say."""
ITEMS = 3

Json = Any  # JSON


def offered(tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Make the schema that a call of one of several tools fits.

    Args:
        tools: In OpenAI's function form.
    """
    return {"anyOf": [_called(tool["function"]) for tool in tools]}


def _called(function: Mapping[str, Any]) -> dict[str, Any]:
    properties = {"name": {"const": function["name"]}, "arguments": function["parameters"]}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def packed(text: str) -> dict[str, Any]:
    """Make the message of an assistant that calls a tool.

    Args:
        text: What the model said: name and arguments.
    """
    said = cast("dict[str, Any]", json.loads(text))
    function = {"name": said["name"], "arguments": json.dumps(said["arguments"])}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "index": 0, "function": function}],
    }


def bounded(schema: Json) -> Json:
    """Bound every text and list of a schema.

    Args:
        schema: A JSON schema.
    """
    if isinstance(schema, list):
        return [bounded(each) for each in cast("list[Json]", schema)]
    if not isinstance(schema, dict):
        return schema
    found = {key: bounded(value) for key, value in cast("dict[str, Json]", schema).items()}
    if found.get("type") == "string" and not {"enum", "const"} & found.keys():
        found["maxLength"] = _most(found, "Length", most=TEXT)
    if found.get("type") == "array":
        found["maxItems"] = _most(found, "Items", most=ITEMS)
    return found


def _most(schema: Json, what: str, *, most: int) -> int:
    """Bound one thing, never below what there must be: the server does not come back from what nothing can fit."""
    return max(min(schema.get(f"max{what}", most), most), schema.get(f"min{what}", 0))
