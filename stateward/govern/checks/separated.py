"""Separated: of several groups of tools a run may use only one, such as connecting and executing (SYSTEMS D2)."""

from __future__ import annotations

from collections.abc import Iterator

from stateward.govern.effective import Effective, Separation
from stateward.govern.kinds.tools import Group
from stateward.govern.layer import ROOT_LABEL
from stateward.govern.pattern import is_one_of
from stateward.govern.request import CallRequest, Facts, Spent
from stateward.govern.verdict import Deny

_CALLS = "calls:"


def separated(effective: Effective, *, request: CallRequest, facts: Facts) -> Deny | None:
    """Refuse a tool of one group after one of another group was used in the same run.

    Args:
        effective: The policy of the state that wants the call.
        request: The call.
        facts: What was spent: calls are counted by tool in every scope, so that it tells what was used.

    Source:
        SYSTEMS.md, D2.
    """
    if request.kind != "tool":
        return None
    for separation in effective.separations:
        own = [group for group in separation.groups if is_one_of(request.name, patterns=group.match)]
        used = sorted(_used(facts.spent, scope=separation.scope))
        for group in separation.groups:
            met = [] if group in own else [tool for tool in used if is_one_of(tool, patterns=group.match)]
            if own and met:
                return _denied(request, separation, own[0], group, met[0])
    return None


def _used(spent: Spent, *, scope: str) -> Iterator[str]:
    for (where, unit), amount in spent.items():
        if where == scope and amount > 0 and unit.startswith(_CALLS):
            yield unit.removeprefix(_CALLS)


def _denied(request: CallRequest, separation: Separation, own: Group, other: Group, met: str) -> Deny:
    place = separation.scope or ROOT_LABEL
    return Deny(
        reason=f"tool `{request.name}` is of the group `{own.name}`, and this run used `{met}` of the group"
        f" `{other.name}` in `{place}`: the two never meet in one run",
        rule=separation.origin,
        scope=separation.scope,
    )
