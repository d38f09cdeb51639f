"""A policy: the frozen value that says what the states under it may spend and call.

A policy hangs on one state and holds for everything inside. It is written in YAML, read by
`stateward.config.load_policy`, or made in code; either way it is checked against `policy_shape`. `effective` folds
it with its ancestors'.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import cast

from stateward.govern.fingerprint import digest
from stateward.govern.policy_shape import DEFAULT_MODE as DEFAULT_MODE
from stateward.govern.policy_shape import (
    ContractShape,
    FusesShape,
    PolicyContent,
    PolicyFile,
    RuleShape,
    ToolsShape,
    WindowShape,
)
from stateward.govern.policy_shape import FieldType as FieldType
from stateward.govern.policy_shape import ItemType as ItemType
from stateward.govern.policy_shape import Level as Level
from stateward.govern.required import items_of, pairs_of, require, require_distinct, require_kind

DEFAULT_MICROSTEPS = 1000


def _content(part: Fuses | Rule | Window | FieldSpec) -> dict[str, object]:
    """Collect what is not left at its default, as a file would say it."""
    given = {
        field.name: (cast(object, getattr(part, field.name)), cast(object, field.default)) for field in fields(part)
    }
    return {name: value for name, (value, default) in given.items() if not _same(value, default)}


def _same(value: object, default: object) -> bool:
    # 3.0 and True equal 3 and 1, and are wrong all the same.
    return type(value) is type(default) and value == default


@dataclass(frozen=True, slots=True, kw_only=True)
class Fuses:
    """The limits of one policy; None leaves the limit to the policies above."""

    turns: int | None = None
    """Model calls."""
    usd: float | None = None
    """Money, in US dollars."""
    calls: int | None = None
    """Tool calls, of all tools together."""
    microsteps: int | None = None
    """Microsteps in one macrostep of the chart."""

    def __post_init__(self) -> None:
        require(FusesShape, said=_content(self), by=self)


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

    def __post_init__(self) -> None:
        said = _content(self)
        if self.approvers is not None:
            said["approvers"] = items_of(self.approvers, kind=str, key="approvers", by=self)
        require(RuleShape, said=said, by=self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPolicy:
    """The tool section of a policy: the first rule that matches decides, else the default."""

    default: Level = "forbidden"
    rules: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        items_of(self.rules, kind=Rule, key="rules", by=self)
        require(ToolsShape, said={"default": self.default}, by=self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How many messages of a conversation a model is shown."""

    max_messages: int
    """A conversation of at most this many messages is shown whole."""
    keep_last: int
    """How many of the latest messages a longer conversation keeps."""

    def __post_init__(self) -> None:
        require(WindowShape, said=_content(self), by=self)


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
        require(PolicyContent, said={"contracts": {self.name: self.content}}, by=self)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What one policy file says, in one mode."""

    name: str
    source: str = "code"
    """Where it was written: a file, or `code`."""
    mode: str = DEFAULT_MODE
    fuses: Fuses = Fuses()
    tools: ToolPolicy | None = None
    call_timeout_s: float | None = None
    window: Window | None = None
    contracts: tuple[ContractSpec, ...] = ()

    def __post_init__(self) -> None:
        require_kind(self.name, kind=str, key="name", by=self)
        require_kind(self.source, kind=str, key="source", by=self)
        require_kind(self.fuses, kind=Fuses, key="fuses", by=self)
        require_kind(self.tools, kind=ToolPolicy, key="tools", by=self, optional=True)
        require_kind(self.window, kind=Window, key="window", by=self, optional=True)
        specs = items_of(self.contracts, kind=ContractSpec, key="contracts", by=self)
        require_distinct([spec.name for spec in specs], key="contracts", by=self)
        said = {"version": 1, "mode": self.mode, "call_timeout_s": self.call_timeout_s}
        require(PolicyFile, said=said, by=self)

    @property
    def hash(self) -> str:
        """The SHA-256 of the content, mode included and source excluded.

        Source:
            DESIGN.md, decision 8.
        """
        content = asdict(self)
        del content["source"]
        if self.tools is not None:
            content["tools"]["rules"] = [_hashed(rule) for rule in self.tools.rules]
        return digest(content)


def _hashed(rule: Rule) -> dict[str, object]:
    said = asdict(rule)
    if rule.expires_s is None:  # rules had no such part once, and a run that was pinned then must not drift
        del said["expires_s"]
    return said
