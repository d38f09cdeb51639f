"""Contracts as a policy says them: the fields of an output, other spellings of keys and values, and the retries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Literal, Self, cast

from pydantic import Field, model_validator

from stateward.govern.kinds.shape import Count, Name, Number, PatternText, Positive, Strict, require_order
from stateward.govern.required import items_of, pairs_of, require, require_distinct, require_kind

FieldType = Literal["str", "int", "float", "bool", "enum", "list"]
"""What a contract's field holds.

str, int, float, bool: one value. enum: one text out of `values`. list: several values of the type `items`.
"""

ItemType = Literal["str", "int", "float", "bool"]
"""What a list field holds: the single-value types of `FieldType`."""


class FieldShape(Strict):
    """One field of a contract."""

    type: FieldType
    required: bool = True
    description: str = ""
    min_length: Count | None = None
    max_length: Positive | None = None
    pattern: PatternText | None = None
    min: Number | None = None
    max: Number | None = None
    values: list[str] = Field(default_factory=list[str])
    aliases: dict[str, str] = Field(default_factory=dict[str, str])
    items: ItemType | None = None
    min_items: Count | None = None
    max_items: Positive | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        allowed = _OPTIONS[self.type] | {"type", "required", "description"}
        strange = sorted(self.model_fields_set - allowed)
        if strange:
            raise ValueError(f"for the type {self.type} only the keys {', '.join(sorted(allowed))}")
        require_order(self.min_length, self.max_length, what="length")
        require_order(self.min, self.max, what="value")
        require_order(self.min_items, self.max_items, what="number of items")
        _require_values(self.type, self.values, self.aliases)
        return self


_NUMBER = frozenset({"min", "max"})
_OPTIONS: Mapping[FieldType, frozenset[str]] = {
    "str": frozenset({"min_length", "max_length", "pattern"}),
    "int": _NUMBER,
    "float": _NUMBER,
    "bool": frozenset(),
    "enum": frozenset({"values", "aliases"}),
    "list": frozenset({"items", "min_items", "max_items"}),
}


class ContractShape(Strict):
    """One contract."""

    retries: Annotated[int, Field(ge=0, le=100)] = 3
    fields: Annotated[dict[Name, FieldShape], Field(min_length=1)]
    aliases: dict[str, str] = Field(default_factory=dict[str, str])

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for alias, name in self.aliases.items():
            if name not in self.fields:
                raise ValueError(f"alias `{alias}` to stand for a field, one of {', '.join(self.fields)}")
        return self


class ContractsShape(Strict):
    """Contracts by name."""

    contracts: dict[Name, ContractShape]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSpec:
    """One field of a contract."""

    name: str
    type: FieldType
    required: bool = True
    description: str = ""
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    """An RE2 pattern that must match the whole text."""
    min: float | None = None
    max: float | None = None
    values: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    """Pairs of another spelling and the value it stands for, sorted."""
    items: ItemType = "str"
    min_items: int | None = None
    max_items: int | None = None

    def __post_init__(self) -> None:
        require_kind(self.name, kind=str, key="name", by=self)
        require_kind(self.items, kind=str, key="items", by=self)
        require(ContractShape, said={"fields": {self.name: self.content}}, by=self)

    @property
    def content(self) -> dict[str, object]:
        """What a policy file says of this field: the options that are not left at their defaults."""
        said = _content(self)
        del said["name"]
        said["type"] = self.type
        said["values"] = items_of(self.values, kind=str, key="values", by=self)
        said["aliases"] = pairs_of(self.aliases, key="aliases", by=self)
        return {key: value for key, value in said.items() if value not in ([], {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractSpec:
    """What an output must look like, and how often its author may try."""

    name: str
    fields: tuple[FieldSpec, ...]
    aliases: tuple[tuple[str, str], ...] = ()
    """Pairs of another spelling and the field it stands for, sorted."""
    retries: int = 3
    """How often a failing output goes back with feedback."""

    def __post_init__(self) -> None:
        require_kind(self.name, kind=str, key="name", by=self)
        require(ContractsShape, said={"contracts": {self.name: self.content}}, by=self)

    @property
    def content(self) -> dict[str, object]:
        """What a policy file says of this contract."""
        specs = items_of(self.fields, kind=FieldSpec, key="fields", by=self)
        require_distinct([spec.name for spec in specs], key="fields", by=self)
        return {
            "retries": self.retries,
            "fields": {spec.name: spec.content for spec in specs},
            "aliases": pairs_of(self.aliases, key="aliases", by=self),
        }


def _content(part: FieldSpec) -> dict[str, object]:
    """Collect what is not left at its default, as a file would say it."""
    given = {
        field.name: (cast(object, getattr(part, field.name)), cast(object, field.default)) for field in fields(part)
    }
    return {name: value for name, (value, default) in given.items() if not _same(value, default)}


def _same(value: object, default: object) -> bool:
    # 3.0 and True equal 3 and 1, and are wrong all the same.
    return type(value) is type(default) and value == default


def _require_values(kind: FieldType, values: list[str], aliases: Mapping[str, str]) -> None:
    if kind == "enum" and not values:
        raise ValueError("`values`, because the type is enum")
    for alias, value in aliases.items():
        if value not in values:
            raise ValueError(f"alias `{alias}` to stand for one of {', '.join(values)}")
