"""What is told of an exception: text that any database and any model can take, whatever the exception makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from stateward.govern.kinds.redaction import BY_DEFAULT
from stateward.govern.redact import redact

_MOST_LETTERS = 200
_MOST_PROBLEMS = 20
_MOST_LISTED = 100
"""Of so many problems pydantic is asked for a list."""


def told(error: BaseException) -> str:
    """Return what an exception says of itself.

    Args:
        error: Any exception.

    Returns:
        Its text, without secrets: providers quote keys that they do not know. Lone surrogates, which no UTF-8 has, are
        written as escapes; where its own `__str__` fails, that is said instead.
    """
    try:
        text = str(error)
    except Exception as broken:  # noqa: BLE001  # it is what is told
        text = f"(its text cannot be read: {type(broken).__name__})"
    return redact(text.encode(errors="backslashreplace").decode(), classes=BY_DEFAULT)


def named(error: BaseException) -> str:
    """Return the name of an exception with what it says.

    Args:
        error: Any exception.
    """
    return f"{type(error).__name__}: {told(error)}"


def shortened(text: str) -> str:
    """Return a text that may be as long as its author likes, at a length that a record and a model can bear.

    Args:
        text: What somebody else wrote, such as the name of a tool that there is not.
    """
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}… ({len(text)} letters)"


def problems(invalid: ValidationError, *, shape: type[BaseModel], given: Mapping[str, Any]) -> str:
    """Say what is wrong with arguments, or the first of it where somebody got a long list wrong.

    Args:
        invalid: What pydantic found.
        shape: What they should fit.
        given: The arguments.
    """
    count = invalid.error_count()
    found = invalid if count <= _MOST_LISTED else _among_the_first(shape, given)
    listed = [] if found is None else found.errors(include_url=False, include_context=False, include_input=False)
    told = [f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in listed[:_MOST_PROBLEMS]]
    if not told:
        return f"{count} values do not fit; give fewer of them to be told which"
    more = f"; and {count - len(told)} more" if count > len(told) else ""
    return "; ".join(map(shortened, told)) + more


def _among_the_first(shape: type[BaseModel], given: Mapping[str, Any]) -> ValidationError | None:
    """Look at the first items of each list alone: of what is wrong with all of them, pydantic makes a list as long."""
    try:
        shape.model_validate(_cut(given))
    except ValidationError as invalid:
        return invalid if invalid.error_count() <= _MOST_LISTED**2 else None
    return None


def _cut(value: Any, *, depth: int = 0) -> Any:  # arguments are anything
    if depth > 2:
        return value
    if isinstance(value, dict):
        named = islice(cast("dict[Any, Any]", value).items(), _MOST_LISTED)
        return {key: _cut(each, depth=depth + 1) for key, each in named}
    if isinstance(value, list):
        return [_cut(each, depth=depth + 1) for each in cast("list[Any]", value)[:_MOST_LISTED]]
    return value
