"""What a contract's field may hold, as the type that pydantic checks a value against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, Protocol, cast

from pydantic import AfterValidator, ConfigDict, Field, GetJsonSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import CoreSchema

from stateward.govern.pattern import compile_pattern

FieldType = Literal["str", "int", "float", "bool", "enum", "list"]
"""What a contract's field holds.

str, int, float, bool: one value. enum: one text out of `values`. list: several values of the type `items`.
"""

ItemType = Literal["str", "int", "float", "bool"]
"""What a list field holds: the single-value types of `FieldType`."""

_TYPES: Mapping[ItemType, type[object]] = {"str": str, "int": int, "float": float, "bool": bool}
_SPECIAL = ("(?P", "(?i", "(?s", "(?m", "(?U", "\\A", "\\z", "\\Q", "\\C", "\\p", "\\P", "[[:")
"""Beginnings of what RE2 has and the patterns of JSON Schema have not."""


class FieldLimits(Protocol):
    """What bounds a field, in a file or in code."""

    @property
    def type(self) -> FieldType:
        """What the field holds."""
        ...

    @property
    def items(self) -> ItemType | None:
        """What a list holds; None for texts."""
        ...

    @property
    def values(self) -> Sequence[str]:
        """The values of an enum."""
        ...

    @property
    def pattern(self) -> str | None:
        """An RE2 pattern for the whole text."""
        ...

    @property
    def contains(self) -> Sequence[str]:
        """What must stand in a text."""
        ...

    @property
    def forbid(self) -> str | None:
        """An RE2 pattern that must match nowhere in a text."""
        ...

    @property
    def min_length(self) -> int | None:
        """Characters at least."""
        ...

    @property
    def max_length(self) -> int | None:
        """Characters at most."""
        ...

    @property
    def min(self) -> float | None:
        """The least number."""
        ...

    @property
    def max(self) -> float | None:
        """The greatest number."""
        ...

    @property
    def min_items(self) -> int | None:
        """Items at least."""
        ...

    @property
    def max_items(self) -> int | None:
        """Items at most."""
        ...


@dataclass(frozen=True, slots=True)
class _Shown:
    """Shows in the JSON schema what RE2 and not pydantic checks: as a pattern where it means the same there."""

    pattern: str | None
    notes: tuple[str, ...]

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        shown = handler(core)
        notes = list(self.notes)
        if self.pattern is not None and any(special in self.pattern for special in _SPECIAL):
            notes.insert(0, f"matches {self.pattern}")
        elif self.pattern is not None:
            shown["pattern"] = f"^(?:{self.pattern})$"
        if notes:
            shown["description"] = f"a text that {', '.join(notes)}"
        return shown


def annotation(field: FieldLimits) -> object:
    """Make the type of a field.

    Args:
        field: What bounds it.

    Returns:
        A type that pydantic validates with, and shows in a JSON schema.
    """
    if field.type == "enum":
        # The values are data: Literal is built at run time, which the type checker cannot follow.
        return cast(Any, Literal).__getitem__(tuple(field.values))
    if field.type == "list":
        items = cast(Any, list)[_TYPES[field.items or "str"]]
        return Annotated[items, Field(min_length=field.min_items, max_length=field.max_items)]
    if field.type == "str":
        return _text(field)
    if field.type == "bool":
        return bool
    number = cast(Any, _TYPES[field.type])
    return Annotated[number, Field(ge=field.min, le=field.max)]


def fits(value: object, *, field: FieldLimits) -> bool:
    """Whether a field may hold a value just as it is, without any coercion.

    Args:
        value: The value.
        field: What bounds the field.
    """
    adapter = TypeAdapter[object](cast(Any, annotation(field)), config=ConfigDict(strict=True, allow_inf_nan=False))
    try:
        adapter.validate_python(value)
    except ValidationError:
        return False
    return True


def _text(field: FieldLimits) -> object:
    kind = Annotated[str, Field(min_length=field.min_length, max_length=field.max_length)]
    if field.pattern is None and field.forbid is None and not field.contains:
        return kind
    notes = [f"contains {part}" for part in field.contains]
    if field.forbid is not None:
        notes.append(f"matches {field.forbid} nowhere")
    return Annotated[kind, AfterValidator(partial(_checked, field)), _Shown(field.pattern, tuple(notes))]


def _checked(field: FieldLimits, text: str) -> str:
    if field.pattern is not None and compile_pattern(field.pattern).fullmatch(text) is None:
        raise ValueError(f"a text that matches `{field.pattern}`")
    missing = [part for part in field.contains if part.casefold() not in text.casefold()]
    if missing:
        raise ValueError(f"a text that contains {', '.join(f'`{part}`' for part in missing)}")
    if field.forbid is not None and compile_pattern(field.forbid).search(text) is not None:
        raise ValueError(f"a text in which nothing matches `{field.forbid}`")
    return text
