"""What is asked of the door, and the facts that it is decided by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from stateward.govern.kinds.shape import Sensitivity
from stateward.govern.revocation import Revocation
from stateward.govern.work import Work

CallKind = Literal["tool", "model"]
"""What a call goes to.

tool: a registered function. model: a chat model, named by its role.
"""

Spent = Mapping[tuple[str, str], float]
"""What was spent and reserved, by scope and unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """A call that someone wants to make."""

    kind: CallKind
    name: str
    """The tool's name, or the model's role."""
    arguments: Mapping[str, object]
    path: str
    """The path of the state that wants it."""
    declared: frozenset[str]
    """What that state declares: its tools and its model role."""
    estimate_usd: float | None = 0.0
    """The most this call can cost, in US dollars; None when no bound is known."""
    estimate_tokens: int | None = 0
    """The most tokens this call can send and get back; None when no bound is known."""
    unbounded: str = ""
    """Why no bound is known, and what to configure; empty when both are."""
    is_discovered: bool = False
    """Whether the tool was found at run time, and not registered when the graph was compiled."""
    cleared: Sensitivity = "public"
    """The most sensitive data that the tool or model is cleared for."""
    work: Work = field(default_factory=Work)
    """Where paths in the arguments lead; by default their text alone is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of the run when a call is decided."""

    spent: Spent
    """What was spent and reserved before this call."""
    raised: Spent = field(default_factory=dict[tuple[str, str], float])
    """Limits that a person has set anew for this run."""
    approved: bool = False
    """Whether enough people have approved this very call."""
    revoked: tuple[Revocation, ...] = ()
    """What an operator has taken back from the session."""
