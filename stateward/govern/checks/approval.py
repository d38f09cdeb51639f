"""Approval: a restricted tool needs people, asked last, so that nobody is asked about what would be refused anyway."""

from __future__ import annotations

from stateward.govern.effective import Effective
from stateward.govern.person import people
from stateward.govern.request import CallRequest, Facts
from stateward.govern.ruling import Ruling, known_level
from stateward.govern.verdict import Deny, NeedsApproval


def approval(effective: Effective, *, request: CallRequest, facts: Facts) -> NeedsApproval | Deny | None:
    """Ask for people where the tool is restricted.

    Args:
        effective: The policy of the state that wants the call.
        request: The call.
        facts: Whether it was approved.
    """
    if facts.approved or request.kind != "tool":
        return None
    ruling = effective.level(request.name)
    if known_level(ruling.level) == "allowed":
        return None
    if ruling.approvers is not None and len(people(ruling.approvers)) < ruling.approvals:
        return Deny(reason=f"tool `{request.name}` needs {_more(ruling)}", rule=ruling.origin)
    return NeedsApproval(
        reason=f"tool `{request.name}` is restricted here",
        rule=ruling.origin,
        approvers=ruling.approvers or (),
        expires_s=ruling.expires_s,
        approvals=ruling.approvals,
        four_eyes=ruling.four_eyes,
    )


def _more(ruling: Ruling) -> str:
    able = len(people(ruling.approvers or ()))
    if not able:
        return "an approval that nobody may give"
    return f"{ruling.approvals} approvals, and only {able} {'person' if able == 1 else 'people'} may give one"
