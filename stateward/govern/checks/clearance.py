"""Clearance: what works on classified data may only use what is cleared for it (SYSTEMS D9)."""

from __future__ import annotations

from stateward.govern.effective import Effective
from stateward.govern.request import CallRequest, Facts
from stateward.govern.ruling import LESS_SENSITIVE
from stateward.govern.verdict import Deny


def uncleared(effective: Effective, *, request: CallRequest, facts: Facts) -> Deny | None:
    """Refuse a tool or model that is not cleared for the data the state works on.

    Args:
        effective: The policy of the state that wants the call.
        request: The call, with what it is cleared for.
        facts: Every check is given them.

    Source:
        SYSTEMS.md, D9.
    """
    if effective.sensitivity is None:
        return None
    limit = effective.level(request.name).cleared if request.kind == "tool" else None
    cleared = LESS_SENSITIVE.meet(request.cleared, limit)
    if not effective.bars(cleared):
        return None
    return Deny(
        reason=f"`{request.path}` works on {effective.sensitivity} data, and {request.kind} `{request.name}` is"
        f" cleared for {cleared} data only",
        rule=effective.origin_of("data.sensitivity"),
    )
