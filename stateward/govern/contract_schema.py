"""A contract as a JSON schema that strict providers accept: closed objects, every key required, nothing for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from pydantic import BaseModel

LONGEST_TITLE = 64
"""Characters of a name that providers take."""
_DROPPED = ("default", "title")


def json_schema(contract: type[BaseModel]) -> dict[str, Any]:
    """Export a contract.

    Args:
        contract: A model made by `contract`, or any pydantic model.

    Returns:
        A JSON schema of draft 2020-12. Its title names the contract, the mode and the hash of the policy.
    """
    return json.loads(_known(contract))


def _exported(contract: type[BaseModel]) -> str:
    whole = contract.model_json_schema(by_alias=True, mode="validation")
    title = str(whole.get("title", contract.__name__))[:LONGEST_TITLE]
    return json.dumps({"title": title, **_strict(whole)})


_known = lru_cache(maxsize=256)(_exported)
"""A class has one schema, which takes a millisecond to make; it is kept as text, of which each caller reads its own."""


def _strict(part: Mapping[str, Any]) -> dict[str, Any]:
    """Close one schema and all inside it; what has a default is written out like everything else."""
    shut = {key: _inside(key, value) for key, value in part.items() if key not in _DROPPED}
    if "properties" in shut:
        shut["additionalProperties"] = False
        shut["required"] = list(shut["properties"])
    return shut


def _inside(key: str, value: Any) -> Any:
    if key in ("properties", "$defs", "patternProperties"):
        # Here the keys are names that the author chose, `default` or `title` among them.
        return {name: _strict(schema) for name, schema in cast("dict[str, Any]", value).items()}
    if key in ("const", "enum", "examples"):
        return value
    if isinstance(value, dict):
        return _strict(cast("dict[str, Any]", value))
    if isinstance(value, list):
        several = cast("list[Any]", value)
        return [_strict(cast("dict[str, Any]", one)) if isinstance(one, dict) else one for one in several]
    return value
