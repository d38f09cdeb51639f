"""Forbidden: a tool that some policy around the state forbids."""

from __future__ import annotations

from stateward.govern.effective import Effective
from stateward.govern.request import CallRequest, Facts
from stateward.govern.ruling import known_level
from stateward.govern.verdict import Deny


def forbidden(effective: Effective, *, request: CallRequest, facts: Facts) -> Deny | None:
    """Refuse a forbidden tool.

    Args:
        effective: The policy of the state that wants the call.
        request: The call.
        facts: Every check is given them.
    """
    if request.kind != "tool":
        return None
    ruling = effective.level(request.name)
    if known_level(ruling.level) != "forbidden":
        return None
    return Deny(reason=f"tool `{request.name}` is forbidden here", rule=ruling.origin)
