"""Tools: how far each may be used, with which arguments, who approves, and which groups never meet in one run."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Self, cast

from pydantic import Field, model_validator

from stateward.govern.kinds.arguments import ArgumentPath, ArgumentRule, ArgumentShape
from stateward.govern.kinds.shape import Count, Level, Name, Number, PatternText, Person, Sensitivity, Strict
from stateward.govern.person import people
from stateward.govern.required import items_of, require, require_distinct, require_kind

_FOR_APPROVALS = ("approvers", "approvals", "four_eyes", "expires_s")
_PATTERNS = Annotated[list[PatternText], Field(min_length=1)]


class RuleShape(Strict):
    """What one pattern of tool names is allowed."""

    match: PatternText
    level: Level
    max_calls: Count | None = None
    approvers: Annotated[list[Person], Field(min_length=1)] | None = None
    approvals: Annotated[int, Field(ge=1, le=100)] | None = None
    four_eyes: bool | None = None
    expires_s: Annotated[Number, Field(gt=0, le=31_536_000)] | None = None
    cleared: Sensitivity | None = None
    arguments: dict[ArgumentPath, ArgumentShape] = Field(default_factory=dict[str, ArgumentShape])

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for key in _FOR_APPROVALS:
            if getattr(self, key) is not None and self.level != "restricted":
                raise ValueError(f"`{key}` only on a rule whose level is restricted")
        if self.approvers is not None and len(people(self.approvers)) < (self.approvals or 1):
            raise ValueError("at least as many `approvers` as `approvals`")
        return self


class ToolsShape(Strict):
    """The tool section."""

    default: Level = "forbidden"
    rules: list[RuleShape] = Field(default_factory=list[RuleShape])
    discovered: list[PatternText] | None = None
    separate: Annotated[dict[Name, _PATTERNS], Field(min_length=2)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What one pattern of tool names is allowed."""

    match: str
    """An RE2 pattern that must match the tool's whole name."""
    level: Level
    max_calls: int | None = None
    """Calls of each matching tool; None sets no limit."""
    approvers: tuple[str, ...] | None = None
    """Who may approve a restricted call; None means anyone who can answer asks."""
    expires_s: float | None = None
    """Seconds for which a restricted call waits for an answer; then it is refused. None sets no limit."""
    approvals: int | None = None
    """How many different people must approve a restricted call; None means one."""
    four_eyes: bool | None = None
    """Whether the person who gave the input, or edited the arguments, may not be among those who approve."""
    cleared: Sensitivity | None = None
    """The most sensitive data the tool may be given here, whatever it is cleared for; None sets no limit."""
    arguments: tuple[ArgumentRule, ...] = ()
    """What its arguments may hold."""

    def __post_init__(self) -> None:
        said = self.content
        if self.approvers is not None:
            said["approvers"] = items_of(self.approvers, kind=str, key="approvers", by=self)
        rules = items_of(self.arguments, kind=ArgumentRule, key="arguments", by=self)
        require_distinct([rule.name for rule in rules], key="arguments", by=self)
        said["arguments"] = {rule.name: rule.content for rule in rules}
        require(RuleShape, said=said, by=self)

    @property
    def content(self) -> dict[str, object]:
        """What is set, by field."""
        found = {each.name: cast(object, getattr(self, each.name)) for each in fields(self)}
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One of several groups of tools that never meet in one run."""

    name: str
    match: tuple[str, ...]
    """RE2 patterns, of which one must match the tool's whole name."""

    def __post_init__(self) -> None:
        require_kind(self.name, kind=str, key="name", by=self)
        items_of(self.match, kind=str, key="match", by=self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPolicy:
    """The tool section of a policy: the first rule that matches decides, else the default."""

    default: Level = "forbidden"
    rules: tuple[Rule, ...] = ()
    discovered: tuple[str, ...] | None = None
    """RE2 patterns of the only tools that may be used when they were found at run time; None leaves it to the rules."""
    separate: tuple[Group, ...] = ()
    """Groups of tools of which only one may be used in a run; empty for none."""

    def __post_init__(self) -> None:
        items_of(self.rules, kind=Rule, key="rules", by=self)
        groups = items_of(self.separate, kind=Group, key="separate", by=self)
        require_distinct([group.name for group in groups], key="separate", by=self)
        said: dict[str, object] = {"default": self.default}
        if self.discovered is not None:
            said["discovered"] = items_of(self.discovered, kind=str, key="discovered", by=self)
        if groups:
            said["separate"] = {group.name: list(group.match) for group in groups}
        require(ToolsShape, said=said, by=self)
