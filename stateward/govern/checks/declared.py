"""Declared: a state may call what it says it calls, and nothing else."""

from __future__ import annotations

from stateward.govern.effective import Effective
from stateward.govern.request import CallRequest, Facts
from stateward.govern.verdict import Deny


def undeclared(_effective: Effective, *, request: CallRequest, facts: Facts) -> Deny | None:
    """Refuse a call of something that the state does not declare.

    Args:
        _effective: Every check is given it.
        request: The call.
        facts: Every check is given them.
    """
    if request.name in request.declared:
        return None
    known = ", ".join(f"`{name}`" for name in sorted(request.declared)) or "nothing"
    return Deny(
        reason=f"`{request.path}` does not declare {request.kind} `{request.name}`; it declares {known}",
        rule="declared",
    )
