"""Discovered: a tool that was found at run time must stand on the list of every policy that has one."""

from __future__ import annotations

from stateward.govern.effective import Effective
from stateward.govern.pattern import is_one_of
from stateward.govern.request import CallRequest, Facts
from stateward.govern.verdict import Deny


def unlisted(effective: Effective, *, request: CallRequest, facts: Facts) -> Deny | None:
    """Refuse a tool that was found at run time and is on no list.

    Args:
        effective: The policy of the state that wants the call.
        request: The call.
        facts: Every check is given them.

    Source:
        SYSTEMS.md, D1.
    """
    if request.kind != "tool" or not request.is_discovered:
        return None
    for allowed in effective.discovered:
        if not is_one_of(request.name, patterns=allowed.match):
            return Deny(
                reason=f"tool `{request.name}` was found at run time and is not on the list of those that may be used",
                rule=allowed.origin,
            )
    return None
