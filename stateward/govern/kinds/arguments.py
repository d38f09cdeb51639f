"""Argument rules: what the arguments of a tool call may hold."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from stateward.govern.fingerprint import canonical
from stateward.govern.host import read_rule
from stateward.govern.json_schema import refuse_unsound
from stateward.govern.kinds.section import plain
from stateward.govern.kinds.shape import Count, Number, PatternText, Positive, Strict, require_order
from stateward.govern.required import items_of, require, require_kind

ArgumentPath = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*$")]
"""An argument's name, or the dotted way into a nested one."""


def _host_text(text: str) -> str:
    read_rule(text)
    return text


def _folder_text(text: str) -> str:
    if text.startswith("~") or any(letter < " " or letter == "\\" for letter in text) or ".." in text.split("/"):
        raise ValueError("a folder, absolute or in the work directory, without `~`, `..` and backslashes")
    return text


def _sound_schema(schema: dict[str, Any]) -> dict[str, Any]:
    refuse_unsound(schema)
    return schema


_HOSTS = Annotated[list[Annotated[str, AfterValidator(_host_text)]], Field(min_length=1)]


class ArgumentShape(Strict):
    """What one argument may hold."""

    min: Number | None = None
    max: Number | None = None
    values: Annotated[list[str | int | float | bool], Field(min_length=1)] | None = None
    pattern: PatternText | None = None
    min_length: Count | None = None
    max_length: Positive | None = None
    hosts: _HOSTS | None = None
    under: Annotated[str, AfterValidator(_folder_text)] | None = None
    required: bool | None = None
    json_schema: Annotated[dict[str, Any], AfterValidator(_sound_schema)] | None = Field(default=None, alias="schema")

    @model_validator(mode="after")
    def _sound(self) -> Self:
        require_order(self.min, self.max, what="value")
        require_order(self.min_length, self.max_length, what="length")
        if not self.model_fields_set:
            raise ValueError("at least one condition")
        return self


class ArgumentsShape(Strict):
    """Conditions by argument."""

    arguments: dict[ArgumentPath, ArgumentShape]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentRule:
    """What one argument of a tool may hold; each condition that is set must be met. Rules of nested policies add up."""

    name: str
    """The argument, or a dotted path into it."""
    min: float | None = None
    max: float | None = None
    values: tuple[str | int | float | bool, ...] | None = None
    """The only values."""
    pattern: str | None = None
    """An RE2 pattern that must match the whole text."""
    min_length: int | None = None
    max_length: int | None = None
    hosts: tuple[str, ...] | None = None
    """The only hosts a URL may name, as `stateward.govern.host` reads them; `*.example.org` stands for all under it."""
    under: str | None = None
    """The folder that a path must stay under; empty for the work directory itself."""
    required: bool | None = None
    """Whether the argument must be given."""
    schema: str | None = None
    """A JSON Schema that the value must meet, as canonical JSON."""

    def __post_init__(self) -> None:
        require_kind(self.name, kind=str, key="name", by=self)
        if self.values is not None:
            items_of(self.values, kind=object, key="values", by=self)
        if self.hosts is not None:
            items_of(self.hosts, kind=str, key="hosts", by=self)
        require(ArgumentsShape, said={"arguments": {self.name: self.content}}, by=self)

    @property
    def content(self) -> dict[str, object]:
        """What a policy file says of this argument."""
        said = {each.name: plain(getattr(self, each.name)) for each in fields(self) if each.name != "name"}
        if self.schema is not None:
            said["schema"] = json.loads(self.schema)
        return {key: value for key, value in said.items() if value is not None}


def argument_rule(name: str, said: ArgumentShape) -> ArgumentRule:
    """Freeze what a policy file says of one argument.

    Args:
        name: The argument.
        said: The checked content.
    """
    return ArgumentRule(
        name=name,
        min=said.min,
        max=said.max,
        values=None if said.values is None else tuple(said.values),
        pattern=said.pattern,
        min_length=said.min_length,
        max_length=said.max_length,
        hosts=None if said.hosts is None else tuple(said.hosts),
        under=said.under,
        required=said.required,
        schema=None if said.json_schema is None else canonical(said.json_schema).decode(),
    )
