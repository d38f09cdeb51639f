"""Arguments: a call passes only with arguments that meet every rule of every policy around the state."""

from __future__ import annotations

from stateward.govern.argument import is_too_large, refused
from stateward.govern.effective import Effective
from stateward.govern.request import CallRequest, Facts
from stateward.govern.verdict import Deny


def unfit(effective: Effective, *, request: CallRequest, facts: Facts) -> Deny | None:
    """Refuse a tool call whose arguments do not meet a rule.

    Args:
        effective: The policy of the state that wants the call.
        request: The call.
        facts: Every check is given them.

    Source:
        SYSTEMS.md, D1 and D5.
    """
    if request.kind != "tool":
        return None
    conditions = effective.level(request.name).arguments
    if conditions and is_too_large(request.arguments):
        reason = f"the arguments of tool `{request.name}` are too large or too deep for the rules on them to be tried"
        return Deny(reason=reason, rule=conditions[0].origin)
    for each in conditions:
        wanted = refused(request.arguments, rule=each.rule, work=request.work)
        if wanted is not None:
            said = f"argument `{each.rule.name}` of tool `{request.name}` must be {wanted}"
            return Deny(reason=f"{said} ({each.origin})", rule=each.origin)
    return None
