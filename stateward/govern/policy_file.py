"""The policy file's schema: where YAML becomes a frozen `Policy`, or an error that names the key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from stateward.errors import ConfigError, DefinitionError
from stateward.govern.pattern import compile_pattern
from stateward.govern.policy import (
    DEFAULT_MODE,
    ContractSpec,
    FieldSpec,
    FieldType,
    Fuses,
    ItemType,
    Level,
    Policy,
    Rule,
    ToolPolicy,
    Window,
)
from stateward.govern.problem import Key, Problem, dotted, first, problems


def _pattern_text(text: str) -> str:
    try:
        compile_pattern(text)
    except DefinitionError as error:
        raise ValueError(f"an RE2 pattern ({error.what})") from error
    return text


Count = Annotated[int, Field(ge=0, le=1_000_000)]
Positive = Annotated[int, Field(ge=1, le=1_000_000)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$")]
PatternText = Annotated[str, AfterValidator(_pattern_text)]
Locate = Callable[[Key], tuple[str, Key]]
"""Given a key of the merged data: the source it came from, and the key there."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class _Fuses(_Strict):
    turns: Count | None = None
    usd: Annotated[float, Field(ge=0, le=1_000_000)] | None = None
    calls: Count | None = None
    microsteps: Positive | None = None

    def frozen(self) -> Fuses:
        return Fuses(turns=self.turns, usd=self.usd, calls=self.calls, microsteps=self.microsteps)


class _Rule(_Strict):
    match: PatternText
    level: Level
    max_calls: Count | None = None
    approvers: Annotated[list[str], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.approvers is not None and self.level != "restricted":
            raise ValueError("`approvers` only on a rule whose level is restricted")
        return self

    def frozen(self) -> Rule:
        approvers = None if self.approvers is None else tuple(self.approvers)
        return Rule(match=self.match, level=self.level, max_calls=self.max_calls, approvers=approvers)


class _Tools(_Strict):
    default: Level = "forbidden"
    rules: list[_Rule] = []

    def frozen(self) -> ToolPolicy:
        return ToolPolicy(default=self.default, rules=tuple(rule.frozen() for rule in self.rules))


class _Window(_Strict):
    max_messages: Annotated[int, Field(ge=3, le=1_000_000)]
    keep_last: Positive

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.keep_last > self.max_messages - 2:
            raise ValueError("`keep_last` at most `max_messages` - 2, to leave room for prompt and summary")
        return self

    def frozen(self) -> Window:
        return Window(max_messages=self.max_messages, keep_last=self.keep_last)


class _Field(_Strict):
    type: FieldType
    required: bool = True
    description: str = ""
    min_length: Count | None = None
    max_length: Positive | None = None
    pattern: PatternText | None = None
    min: float | None = None
    max: float | None = None
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

    def frozen(self, name: str) -> FieldSpec:
        return FieldSpec(
            name=name,
            type=self.type,
            required=self.required,
            description=self.description,
            min_length=self.min_length,
            max_length=self.max_length,
            pattern=self.pattern,
            min=self.min,
            max=self.max,
            values=tuple(self.values),
            aliases=tuple(sorted(self.aliases.items())),
            items=self.items or "str",
            min_items=self.min_items,
            max_items=self.max_items,
        )


_NUMBER = frozenset({"min", "max"})
_OPTIONS: Mapping[FieldType, frozenset[str]] = {
    "str": frozenset({"min_length", "max_length", "pattern"}),
    "int": _NUMBER,
    "float": _NUMBER,
    "bool": frozenset(),
    "enum": frozenset({"values", "aliases"}),
    "list": frozenset({"items", "min_items", "max_items"}),
}


class _Contract(_Strict):
    retries: Annotated[int, Field(ge=0, le=100)] = 3
    fields: Annotated[dict[Name, _Field], Field(min_length=1)]
    aliases: dict[str, str] = {}

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for alias, name in self.aliases.items():
            if name not in self.fields:
                raise ValueError(f"alias `{alias}` to stand for a field, one of {', '.join(self.fields)}")
        return self

    def frozen(self, name: str) -> ContractSpec:
        return ContractSpec(
            name=name,
            fields=tuple(field.frozen(key) for key, field in self.fields.items()),
            aliases=tuple(sorted(self.aliases.items())),
            retries=self.retries,
        )


class PolicyContent(_Strict):
    """What a policy says, and what each of its modes may say otherwise."""

    fuses: _Fuses = _Fuses()
    call_timeout_s: Annotated[float, Field(gt=0, le=86_400)] | None = None
    tools: _Tools | None = None
    window: _Window | None = None
    contracts: dict[Name, _Contract] = {}


class PolicyFile(PolicyContent):
    """A whole policy file, after its mode was laid over it."""

    version: Annotated[int, Field(ge=1, le=1)]
    name: Name | None = None
    mode: Name = DEFAULT_MODE
    modes: dict[Name, dict[str, object]] = {}

    def frozen(self, *, name: str, source: str) -> Policy:
        """Convert to the value that travels on.

        Args:
            name: The name to use when the file gives none.
            source: Where the policy was written.
        """
        return Policy(
            name=self.name or name,
            source=source,
            mode=self.mode,
            fuses=self.fuses.frozen(),
            tools=self.tools.frozen() if self.tools else None,
            call_timeout_s=self.call_timeout_s,
            window=self.window.frozen() if self.window else None,
            contracts=tuple(spec.frozen(key) for key, spec in self.contracts.items()),
        )


def policy_from(data: Mapping[str, object], *, name: str, source: str, locate: Locate | None = None) -> Policy:
    """Check the content of a policy file and freeze it.

    The mode must have been laid over the rest before; `stateward.config.load_policy` does that.

    Args:
        data: The content, plain data.
        name: The policy's name when the content gives none.
        source: Where the content was written, for messages.
        locate: Finds the source of one key when the content was merged from several.

    Returns:
        The policy.

    Raises:
        ConfigError: A key is unknown, or a value has the wrong type or is out of range.
    """
    try:
        checked = PolicyFile.model_validate(data)
    except ValidationError as error:
        raise _config_error(
            first(problems(error, schema=PolicyFile)), locate=locate or (lambda key: (source, key))
        ) from error
    return checked.frozen(name=name, source=source)


def _config_error(problem: Problem, *, locate: Locate) -> ConfigError:
    file, key = locate(problem.key)
    return ConfigError(file=file, key=dotted(key), expected=problem.expected, given=problem.given)


def _require_order(least: float | None, most: float | None, *, what: str) -> None:
    if least is not None and most is not None and least > most:
        raise ValueError(f"the least {what} to be at most the greatest")


def _require_values(kind: FieldType, values: list[str], aliases: Mapping[str, str]) -> None:
    if kind == "enum" and not values:
        raise ValueError("`values`, because the type is enum")
    for alias, value in aliases.items():
        if value not in values:
            raise ValueError(f"alias `{alias}` to stand for one of {', '.join(values)}")
