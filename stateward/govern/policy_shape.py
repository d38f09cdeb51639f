"""The shape of a policy: what each part may hold, whether it is written in a file or in code.

`policy_file` fills these models from YAML, and the frozen values of `policy` are held against them when they are made,
so both ways in have the same checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from stateward.errors import DefinitionError
from stateward.govern.pattern import compile_pattern

Level = Literal["allowed", "restricted", "forbidden"]
"""How far a tool may be used.

allowed: the call runs. restricted: it runs once a person has approved it. forbidden: it never runs.
"""

FieldType = Literal["str", "int", "float", "bool", "enum", "list"]
"""What a contract's field holds.

str, int, float, bool: one value. enum: one text out of `values`. list: several values of the type `items`.
"""

ItemType = Literal["str", "int", "float", "bool"]
"""What a list field holds: the single-value types of `FieldType`."""

DEFAULT_MODE = "strict"


def _pattern_text(text: str) -> str:
    try:
        compile_pattern(text)
    except DefinitionError as error:
        raise ValueError(f"an RE2 pattern ({error.what})") from error
    return text


def _filled_text(text: str) -> str:
    if not text.strip():
        raise ValueError("a text that is not blank")
    return text


def _plain_number(value: object) -> object:
    # Pydantic would also take a Decimal, which is no JSON number and cannot be hashed into a policy's hash.
    if value is not None and not isinstance(value, int | float):
        raise ValueError("a number")
    return value


Count = Annotated[int, Field(ge=0, le=1_000_000)]
Positive = Annotated[int, Field(ge=1, le=1_000_000)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$")]
Number = Annotated[float, BeforeValidator(_plain_number)]
Person = Annotated[str, AfterValidator(_filled_text)]
PatternText = Annotated[str, AfterValidator(_pattern_text)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class FusesShape(_Strict):
    """The limits."""

    turns: Count | None = None
    usd: Annotated[Number, Field(ge=0, le=1_000_000)] | None = None
    calls: Count | None = None
    microsteps: Positive | None = None


class RuleShape(_Strict):
    """What one pattern of tool names is allowed."""

    match: PatternText
    level: Level
    max_calls: Count | None = None
    approvers: Annotated[list[Person], Field(min_length=1)] | None = None
    expires_s: Annotated[Number, Field(gt=0, le=31_536_000)] | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for key, value in (("approvers", self.approvers), ("expires_s", self.expires_s)):
            if value is not None and self.level != "restricted":
                raise ValueError(f"`{key}` only on a rule whose level is restricted")
        return self


class ToolsShape(_Strict):
    """The tool section."""

    default: Level = "forbidden"
    rules: list[RuleShape] = []


class WindowShape(_Strict):
    """How much of a conversation a model is shown."""

    max_messages: Annotated[int, Field(ge=3, le=1_000_000)]
    keep_last: Positive

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.keep_last > self.max_messages - 2:
            raise ValueError("`keep_last` at most `max_messages` - 2, to leave room for prompt and summary")
        return self


class FieldShape(_Strict):
    """One field of a contract."""

    type: FieldType
    required: bool = True
    description: str = ""
    min_length: Count | None = None
    max_length: Positive | None = None
    pattern: PatternText | None = None
    min: Number | None = None
    max: Number | None = None
    values: list[str] = []
    aliases: dict[str, str] = {}
    items: ItemType | None = None
    min_items: Count | None = None
    max_items: Positive | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        allowed = _OPTIONS[self.type] | {"type", "required", "description"}
        strange = sorted(self.model_fields_set - allowed)
        if strange:
            raise ValueError(f"for the type {self.type} only the keys {', '.join(sorted(allowed))}")
        _require_order(self.min_length, self.max_length, what="length")
        _require_order(self.min, self.max, what="value")
        _require_order(self.min_items, self.max_items, what="number of items")
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


class ContractShape(_Strict):
    """One contract."""

    retries: Annotated[int, Field(ge=0, le=100)] = 3
    fields: Annotated[dict[Name, FieldShape], Field(min_length=1)]
    aliases: dict[str, str] = {}

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for alias, name in self.aliases.items():
            if name not in self.fields:
                raise ValueError(f"alias `{alias}` to stand for a field, one of {', '.join(self.fields)}")
        return self


class PolicyContent(_Strict):
    """What a policy says, and what each of its modes may say otherwise."""

    fuses: FusesShape = FusesShape()
    call_timeout_s: Annotated[Number, Field(gt=0, le=86_400)] | None = None
    tools: ToolsShape | None = None
    window: WindowShape | None = None
    contracts: dict[Name, ContractShape] = {}


class PolicyFile(PolicyContent):
    """A whole policy file, after its mode was laid over it."""

    version: Annotated[int, Field(ge=1, le=1)]
    name: Name | None = None
    mode: Name = DEFAULT_MODE
    modes: dict[Name, dict[str, object]] = {}


def _require_order(least: float | None, most: float | None, *, what: str) -> None:
    if least is not None and most is not None and least > most:
        raise ValueError(f"the least {what} to be at most the greatest")


def _require_values(kind: FieldType, values: list[str], aliases: Mapping[str, str]) -> None:
    if kind == "enum" and not values:
        raise ValueError("`values`, because the type is enum")
    for alias, value in aliases.items():
        if value not in values:
            raise ValueError(f"alias `{alias}` to stand for one of {', '.join(values)}")
