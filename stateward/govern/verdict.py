"""What the decision on a call can be. All of these are values: a refusal is an observation, never an exception."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

FuseName = Literal["turns", "usd", "calls", "tokens", "runtime_s"]
"""Which fuse tripped; it becomes the event `fuse.<name>`.

turns: model calls. usd: money. calls: tool calls. tokens: sent and
received. runtime_s: wall time in which the run worked.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """The call may run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsApproval:
    """The call may run once a person has approved it."""

    reason: str
    rule: str
    approvers: tuple[str, ...] = ()
    """Who may approve; empty means anyone who can answer asks."""
    approvals: int = 1
    """How many different people must approve."""
    four_eyes: bool = False
    """Whether who gave the input or edited the arguments may not approve."""
    expires_s: float | None = None
    """How many seconds to wait for them; None means without end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """The call may not run; the reason goes back to its author."""

    reason: str
    rule: str
    fuse: FuseName | None = None
    """The fuse that tripped, None when the refusal is no fuse."""
    scope: str | None = None
    """The scope of the limit that tripped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Modify:
    """The call may run with other arguments."""

    reason: str
    rule: str
    arguments: Mapping[str, object]


Decision = Allow | NeedsApproval | Deny | Modify
