"""A policy: the frozen value that says what the states under it may spend and call.

A policy hangs on one state and holds for everything inside. It is written in YAML, read by
`stateward.config.load_policy`, checked by `policy_file`, and folded with its ancestors' by `effective`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from stateward.govern.fingerprint import digest

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

DEFAULT_MICROSTEPS = 1000
DEFAULT_MODE = "strict"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPolicy:
    """The tool section of a policy: the first rule that matches decides, else the default."""

    default: Level = "forbidden"
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How many messages of a conversation a model is shown."""

    max_messages: int
    """A conversation of at most this many messages is shown whole."""
    keep_last: int
    """How many of the latest messages a longer conversation keeps."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractSpec:
    """What an output must look like, and how often its author may try."""

    name: str
    fields: tuple[FieldSpec, ...]
    aliases: tuple[tuple[str, str], ...] = ()
    """Pairs of another spelling and the field it stands for, sorted."""
    retries: int = 3
    """How often a failing output goes back with feedback."""


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

    @property
    def hash(self) -> str:
        """The SHA-256 of the content, mode included and source excluded.

        Source:
            DESIGN.md, decision 8.
        """
        content = asdict(self)
        del content["source"]
        return digest(content)
