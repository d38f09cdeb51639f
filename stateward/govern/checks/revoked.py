"""Revoked: what an operator has taken back from the session."""

from __future__ import annotations

from stateward.govern.effective import Effective
from stateward.govern.request import CallRequest, Facts
from stateward.govern.revocation import REVOKED
from stateward.govern.verdict import Deny


def revoked(_effective: Effective, *, request: CallRequest, facts: Facts) -> Deny | None:
    """Refuse what was revoked.

    Args:
        _effective: Every check is given it.
        request: The call.
        facts: What was revoked.
    """
    for each in facts.revoked:
        if each.hits(kind=request.kind, name=request.name, path=request.path):
            return Deny(reason=each.told(), rule=REVOKED)
    return None
