"""A problem in data from outside, read out of pydantic's errors in words a person can act on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast, get_args

from pydantic import BaseModel, ValidationError

Key = tuple[str | int, ...]
"""The way to a value inside nested data: names of keys and places in lists."""

_UNKNOWN = "extra_forbidden"
_WORDING = (
    ("Input should be ", ""),
    ("Value error, ", ""),
    ("String should have ", "a text with "),
    ("String should match ", "a text that matches "),
    ("List should have ", "a list with "),
    ("Dictionary should have ", "a mapping with "),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong in data from outside."""

    key: Key
    expected: str
    given: object
    unknown_key: bool = False
    """Whether the key itself is wrong."""

    @property
    def dotted(self) -> str:
        """The key as text, such as `tools.rules[0].match`."""
        return dotted(self.key)


def dotted(key: Iterable[str | int]) -> str:
    """Write a key as text.

    Args:
        key: Names of keys and places in lists.

    Returns:
        The names joined by dots, places in square brackets.
    """
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key)
    return text.removeprefix(".")


def problems(error: ValidationError, *, schema: type[BaseModel]) -> tuple[Problem, ...]:
    """Translate what pydantic found.

    Args:
        error: The error raised while `schema` was made from data.
        schema: The model the data was meant for, used to list the keys it knows.

    Returns:
        The problems, in pydantic's order; never empty.
    """
    return tuple(
        Problem(
            key=_place(item["loc"]),
            expected=_expected(item["type"], item["msg"], item["loc"], schema),
            given=_given(item["type"], item["input"]),
            unknown_key=item["type"] == _UNKNOWN,
        )
        for item in error.errors(include_url=False, include_context=False)
    )


def _place(key: Key) -> Key:
    # Pydantic marks a key of a mapping that is itself wrong.
    return key[:-1] if key[-1:] == ("[key]",) else key


def _expected(kind: str, message: str, key: Key, schema: type[BaseModel]) -> str:
    if kind == _UNKNOWN:
        return f"one of the keys {', '.join(known_keys(schema, key=key[:-1]))}"
    if kind == "missing":
        return "a value, because the key is required"
    if kind in ("model_type", "dict_type"):
        return "a mapping"
    for beginning, words in _WORDING:
        if message.startswith(beginning):
            return words + message.removeprefix(beginning)
    return message[:1].lower() + message[1:]


def _given(kind: str, value: object) -> object:
    if kind == "missing":
        return None
    return f"a {type(value).__name__}" if len(repr(value)) > 80 else value


def first(found: Sequence[Problem]) -> Problem:
    """Pick the problem to report when only one can be.

    Args:
        found: What `problems` returned.

    Returns:
        The first unknown key, because a misspelt key also makes the right one missing; else the first problem.
    """
    return next((problem for problem in found if problem.unknown_key), found[0])


def known_keys(schema: type[BaseModel], *, key: Sequence[str | int]) -> tuple[str, ...]:
    """List the keys a schema knows at one place.

    Args:
        schema: The schema of the whole data.
        key: The way to the place.

    Returns:
        The names of the fields there, sorted; empty when the place holds no model.
    """
    annotation: object = schema
    for part in key:
        annotation = _inside(annotation, part)
    model = _model(annotation)
    fields = model.model_fields.items() if model else ()
    return tuple(sorted(field.alias or name for name, field in fields))


def _inside(annotation: object, part: str | int) -> object:
    model = _model(annotation, deep=False)
    if model is not None:
        fields = model.model_fields.items()
        return next((field.annotation for name, field in fields if (field.alias or name) == str(part)), None)
    # A mapping or a list: its last type argument is what it holds.
    arguments = [argument for argument in get_args(annotation) if argument is not type(None)]
    return arguments[-1] if arguments else None


def _model(annotation: object, *, deep: bool = True) -> type[BaseModel] | None:
    """Find the model an annotation names, through optional types and, if `deep`, through containers."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    arguments = cast("tuple[object, ...]", get_args(annotation))
    optional = type(None) in arguments
    return next((found for one in arguments if (optional or deep) and (found := _model(one))), None)
