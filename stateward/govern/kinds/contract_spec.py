"""Contracts as a policy says them: the fields of an output, other spellings of keys and values, and the retries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Literal, Self, cast

from pydantic import Field, model_validator

from stateward.govern.kinds.field_value import FieldType as FieldType
from stateward.govern.kinds.field_value import ItemType as ItemType
from stateward.govern.kinds.field_value import fits
from stateward.govern.kinds.shape import Count, Name, Number, PatternText, Person, Positive, Strict, require_order
from stateward.govern.required import items_of, pairs_of, require, require_distinct, require_kind

Tier = Literal["schema", "instructor", "prompt"]
"""How a model is brought to an output that fits its contract.

schema: the provider enforces the JSON schema. instructor: Instructor asks, checks and asks again with the errors.
prompt: the model is told the schema, and what it says is read, put right, inferred and filled in.
"""

TIERS: tuple[Tier, ...] = ("schema", "instructor", "prompt")
"""All of them, from the strictest on: the order in which they are tried unless something else is said."""

Plain = str | int | float | bool
"""One value of a field."""


class InferenceShape(Strict):
    """What a field's value is taken to be when a text says something."""

    pattern: PatternText
    value: Plain
    field: Name | None = None


class FieldShape(Strict):
    """One field of a contract."""

    type: FieldType
    required: bool = True
    description: str = ""
    min_length: Count | None = None
    max_length: Positive | None = None
    pattern: PatternText | None = None
    contains: list[Person] = Field(default_factory=list[Person])
    forbid: PatternText | None = None
    min: Number | None = None
    max: Number | None = None
    values: list[str] = Field(default_factory=list[str])
    aliases: dict[str, str] = Field(default_factory=dict[str, str])
    items: ItemType | None = None
    min_items: Count | None = None
    max_items: Positive | None = None
    default: Plain | list[Plain] | None = None
    infer: list[InferenceShape] = Field(default_factory=list[InferenceShape])

    @model_validator(mode="after")
    def _sound(self) -> Self:
        allowed = _OPTIONS[self.type] | {"type", "required", "description", "default", "infer"}
        strange = sorted(self.model_fields_set - allowed)
        if strange:
            raise ValueError(f"for the type {self.type} only the keys {', '.join(sorted(allowed))}")
        require_order(self.min_length, self.max_length, what="length")
        require_order(self.min, self.max, what="value")
        require_order(self.min_items, self.max_items, what="number of items")
        _require_values(self.type, self.values, self.aliases)
        self._require_fit()
        return self

    def _require_fit(self) -> None:
        given = [] if self.default is None else [("default", self.default)]
        for key, value in (*given, *(("infer", rule.value) for rule in self.infer)):
            if not fits(value, field=self):
                raise ValueError(f"`{key}` to give a value that the field may hold, not {value!r}")


_NUMBER = frozenset({"min", "max"})
_OPTIONS: Mapping[FieldType, frozenset[str]] = {
    "str": frozenset({"min_length", "max_length", "pattern", "contains", "forbid"}),
    "int": _NUMBER,
    "float": _NUMBER,
    "bool": frozenset(),
    "enum": frozenset({"values", "aliases"}),
    "list": frozenset({"items", "min_items", "max_items"}),
}


class ContractShape(Strict):
    """One contract."""

    retries: Annotated[int, Field(ge=0, le=100)] = 3
    tiers: Annotated[list[Tier], Field(min_length=1)] | None = None
    fields: Annotated[dict[Name, FieldShape], Field(min_length=1)]
    aliases: dict[str, str] = Field(default_factory=dict[str, str])

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if len(set(self.tiers or ())) != len(self.tiers or ()):
            raise ValueError("every tier once")
        for name, field in self.fields.items():
            for rule in field.infer:
                if rule.field is not None and rule.field not in self.fields:
                    raise ValueError(f"`infer` of `{name}` to read a field, one of {', '.join(self.fields)}")
        for alias, name in self.aliases.items():
            if name not in self.fields:
                raise ValueError(f"alias `{alias}` to stand for a field, one of {', '.join(self.fields)}")
        return self


class ContractsShape(Strict):
    """Contracts by name."""

    contracts: dict[Name, ContractShape]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """What a field's value is taken to be when a text says something; only the tier `prompt` infers."""

    pattern: str
    """An RE2 pattern that is looked for in the text, whatever the case."""
    value: Plain
    field: str | None = None
    """The field whose text is searched; None for what was given for the field itself."""

    @property
    def content(self) -> dict[str, object]:
        """What a policy file says of this rule."""
        said: dict[str, object] = {"pattern": self.pattern, "value": self.value}
        return said if self.field is None else {**said, "field": self.field}


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
    contains: tuple[str, ...] = ()
    """What must stand in the text, whatever the case."""
    forbid: str | None = None
    """An RE2 pattern that must match nowhere in the text."""
    min: float | None = None
    max: float | None = None
    values: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    """Pairs of another spelling and the value it stands for, sorted."""
    items: ItemType = "str"
    min_items: int | None = None
    max_items: int | None = None
    default: Plain | tuple[Plain, ...] | None = None
    """What the tier `prompt` puts where no fitting value was given."""
    infer: tuple[Inference, ...] = ()
    """What the tier `prompt` takes the value to be where none that fits was given; the first rule that finds counts."""

    def __post_init__(self) -> None:
        require_kind(self.name, kind=str, key="name", by=self)
        require_kind(self.items, kind=str, key="items", by=self)
        require(ContractShape, said={"fields": {self.name: self._alone}}, by=self)

    @property
    def _alone(self) -> dict[str, object]:
        """The content without the names of other fields, which the contract around it knows."""
        said = self.content
        rules = [replace(rule, field=None).content for rule in self.infer]
        return said if "infer" not in said else {**said, "infer": rules}

    @property
    def content(self) -> dict[str, object]:
        """What a policy file says of this field: the options that are not left at their defaults."""
        said = _content(self)
        del said["name"]
        said["type"] = self.type
        said["values"] = items_of(self.values, kind=str, key="values", by=self)
        said["contains"] = items_of(self.contains, kind=str, key="contains", by=self)
        said["aliases"] = pairs_of(self.aliases, key="aliases", by=self)
        said["infer"] = [rule.content for rule in items_of(self.infer, kind=Inference, key="infer", by=self)]
        if isinstance(self.default, tuple):
            said["default"] = list(self.default)
        return {key: value for key, value in said.items() if key == "default" or value not in ([], {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractSpec:
    """What an output must look like, and how often its author may try."""

    name: str
    fields: tuple[FieldSpec, ...]
    aliases: tuple[tuple[str, str], ...] = ()
    """Pairs of another spelling and the field it stands for, sorted."""
    retries: int = 3
    """How often a failing output goes back with feedback."""
    tiers: tuple[Tier, ...] | None = None
    """How a model may be brought to this output, in the order in which it is tried; None for all."""

    def __post_init__(self) -> None:
        require_kind(self.name, kind=str, key="name", by=self)
        require(ContractsShape, said={"contracts": {self.name: self.content}}, by=self)

    @property
    def content(self) -> dict[str, object]:
        """What a policy file says of this contract."""
        specs = items_of(self.fields, kind=FieldSpec, key="fields", by=self)
        require_distinct([spec.name for spec in specs], key="fields", by=self)
        tiers = None if self.tiers is None else items_of(self.tiers, kind=str, key="tiers", by=self)
        return {
            "retries": self.retries,
            "tiers": tiers,
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
