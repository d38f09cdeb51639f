"""What a policy decides about calls that nobody makes: the rows of a table of cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from stateward.govern.decision import decide
from stateward.govern.effective import Effective
from stateward.govern.request import CallRequest
from stateward.govern.verdict import Decision, Deny, NeedsApproval

Outcome = Literal["allow", "ask", "deny"]
"""What a decision comes to.

allow: the call runs. ask: it runs once people have approved it. deny: it does not run.
"""
_BAD_ARGUMENTS = "the tool's own schema"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """A decision in words."""

    outcome: Outcome
    reason: str = ""
    rule: str = ""
    """The place that says so; empty for a call that runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call to decide about, and what is expected."""

    line: int
    """Where it stands in its file, from 1."""
    request: CallRequest
    expected: Outcome
    rule: str = ""
    """What the rule or the reason must contain."""
    approved: bool = False
    spent: Mapping[str, float] = field(default_factory=dict[str, float])
    """What was spent before, by unit; `UNIT@SCOPE` for one scope, else in all."""
    misfit: str = ""
    """Why the arguments do not fit the tool; empty if they do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What became of a case."""

    case: Case
    ruled: Ruled

    @property
    def holds(self) -> bool:
        """Whether it came as expected."""
        if self.ruled.outcome != self.case.expected:
            return False
        return self.case.rule in f"{self.ruled.rule}\n{self.ruled.reason}"


def ruled(decision: Decision) -> Ruled:
    """Put a decision into words.

    Args:
        decision: The decision.
    """
    if isinstance(decision, Deny):
        return Ruled(outcome="deny", reason=decision.reason, rule=decision.rule)
    if isinstance(decision, NeedsApproval):
        return Ruled(outcome="ask", reason=decision.reason, rule=decision.rule)
    return Ruled(outcome="allow")


def tried(effective: Effective, *, case: Case) -> Tried:
    """Decide about a case.

    Args:
        effective: The policy of the state that wants the call.
        case: The case.
    """
    if case.misfit:
        return Tried(case=case, ruled=Ruled(outcome="deny", reason=case.misfit, rule=_BAD_ARGUMENTS))
    spent = dict(_spread(case.spent, scopes=effective.scopes))
    return Tried(case=case, ruled=ruled(decide(effective, request=case.request, spent=spent, approved=case.approved)))


def _spread(spent: Mapping[str, float], *, scopes: tuple[str, ...]) -> Iterable[tuple[tuple[str, str], float]]:
    for said, amount in spent.items():
        unit, at, scope = said.partition("@")
        for where in (scope,) if at else scopes:
            yield (where, unit), amount
