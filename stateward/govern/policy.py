"""A policy: the frozen value that says what the states under it may spend and call.

A policy hangs on one state and holds for everything inside. It is written in YAML, read by
`stateward.config.load_policy`, or made in code; either way it is checked against `policy_shape`. `effective` folds
it with its ancestors'.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import cast

from stateward.govern.fingerprint import digest
from stateward.govern.kinds.arguments import ArgumentRule as ArgumentRule
from stateward.govern.kinds.contract_spec import ContractSpec as ContractSpec
from stateward.govern.kinds.contract_spec import FieldSpec as FieldSpec
from stateward.govern.kinds.contract_spec import FieldType as FieldType
from stateward.govern.kinds.contract_spec import ItemType as ItemType
from stateward.govern.kinds.data import Data as Data
from stateward.govern.kinds.fuses import DEFAULT_MICROSTEPS as DEFAULT_MICROSTEPS
from stateward.govern.kinds.fuses import Fuses as Fuses
from stateward.govern.kinds.models import ModelRule as ModelRule
from stateward.govern.kinds.models import RoleRule as RoleRule
from stateward.govern.kinds.pace import Pace as Pace
from stateward.govern.kinds.redaction import Redaction as Redaction
from stateward.govern.kinds.section import Part, Section
from stateward.govern.kinds.shape import Level as Level
from stateward.govern.kinds.timeouts import Timeouts as Timeouts
from stateward.govern.kinds.tools import Group as Group
from stateward.govern.kinds.tools import Rule as Rule
from stateward.govern.kinds.tools import ToolPolicy as ToolPolicy
from stateward.govern.kinds.window import Window as Window
from stateward.govern.policy_shape import DEFAULT_MODE as DEFAULT_MODE
from stateward.govern.policy_shape import PolicyFile
from stateward.govern.required import items_of, require, require_distinct, require_kind

_SECTIONS = (("fuses", Fuses), ("pace", Pace), ("data", Data), ("redact", Redaction), ("window", Window))


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What one policy file says, in one mode."""

    name: str
    source: str = "code"
    """Where it was written: a file, or `code`."""
    mode: str = DEFAULT_MODE
    fuses: Fuses = field(default_factory=Fuses)
    tools: ToolPolicy | None = None
    call_timeout_s: float | None = None
    window: Window | None = None
    contracts: tuple[ContractSpec, ...] = ()
    activity_timeout_s: float | None = None
    pace: Pace | None = None
    data: Data | None = None
    redact: Redaction | None = None
    models: tuple[RoleRule, ...] = ()
    observe: bool = False
    """Whether this policy only records what it would have decided, and binds nothing."""

    def __post_init__(self) -> None:
        require_kind(self.name, kind=str, key="name", by=self)
        require_kind(self.source, kind=str, key="source", by=self)
        require_kind(self.tools, kind=ToolPolicy, key="tools", by=self, optional=True)
        for key, kind in _SECTIONS:
            require_kind(getattr(self, key), kind=kind, key=key, by=self, optional=key != "fuses")
        specs = items_of(self.contracts, kind=ContractSpec, key="contracts", by=self)
        require_distinct([spec.name for spec in specs], key="contracts", by=self)
        roles = items_of(self.models, kind=RoleRule, key="models", by=self)
        require_distinct([each.role for each in roles], key="models", by=self)
        said = {"version": 1, "mode": self.mode, "observe": self.observe, "call_timeout_s": self.call_timeout_s}
        require(PolicyFile, said={**said, "activity_timeout_s": self.activity_timeout_s}, by=self)

    @property
    def timeouts(self) -> Timeouts:
        """The timeouts as the section they are folded in."""
        return Timeouts(call_timeout_s=self.call_timeout_s, activity_timeout_s=self.activity_timeout_s)

    def sections(self) -> Iterator[tuple[str, Section]]:
        """Yield the sections that are set, each with the beginning of its keys in a file."""
        for key, _ in _SECTIONS:
            section: Section | None = getattr(self, key)
            if section is not None:
                yield f"{key}.", section
        yield "", self.timeouts
        for each in self.models:
            yield f"models.{each.role}.", each.rule

    def parts(self) -> Iterator[tuple[str, Part]]:
        """Yield the parts of sections that are set, each with its dotted key in a file."""
        for prefix, section in self.sections():
            for one in section.parts():
                yield prefix + one.name, one

    @property
    def hash(self) -> str:
        """The SHA-256 of the content, mode included and source excluded.

        Source:
            DESIGN.md, decision 8.
        """
        content = asdict(self)
        del content["source"]
        return digest(_pruned(content))


_LATER = frozenset(
    {"expires_s", "tokens", "runtime_s", "approvals", "four_eyes", "cleared", "arguments", "discovered", "separate"}
    | {"max_tokens", "activity_timeout_s", "pace", "data", "redact", "models", "observe", "infer", "tiers"}
    | {"contains", "forbid"}
)
"""What policies could not say at first: where it is unset, a hash that was pinned then must not change."""


def _is_unsaid(key: str, value: object) -> bool:
    # A field's default may be false, 0 or empty, and is said all the same.
    return value is None if key == "default" else key in _LATER and value in (None, (), False)


def _pruned(content: object) -> object:
    if isinstance(content, dict):
        items = cast("dict[str, object]", content).items()
        return {key: _pruned(value) for key, value in items if not _is_unsaid(key, value)}
    if isinstance(content, list | tuple):
        return [_pruned(item) for item in cast("list[object]", content)]
    return content
