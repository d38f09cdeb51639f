"""Runtime: the time in which a run works is spent like anything else, and no call begins when it is used up."""

from __future__ import annotations

from stateward.govern.effective import Effective
from stateward.govern.layer import ROOT_LABEL, Limit
from stateward.govern.request import CallRequest, Facts, Spent
from stateward.govern.verdict import Deny

RUNTIME = "runtime_s"
"""The unit, and the fuse."""


def overtime(effective: Effective, *, request: CallRequest, facts: Facts) -> Deny | None:
    """Refuse a call when a scope has worked for as long as it may.

    Args:
        effective: The policy of the state that wants the call.
        request: Every check is given it.
        facts: What was spent, the time of the work under way included.
    """
    return used_up(effective, spent=facts.spent, raised=facts.raised)


def used_up(effective: Effective, *, spent: Spent, raised: Spent) -> Deny | None:
    """Say which scope has worked for as long as it may; None when none has.

    Args:
        effective: The policy of a state.
        spent: What was spent, by scope and unit.
        raised: Limits that a person has set anew for this run.
    """
    for limit in runtimes(effective):
        place = (limit.scope, RUNTIME)
        most, used = raised.get(place, limit.value), spent.get(place, 0.0)
        # Asked this way round, a number that is none (NaN) trips the fuse.
        if not round(used, 9) < most:
            return Deny(
                reason=f"`{RUNTIME}` in `{limit.scope or ROOT_LABEL}` is limited to {most:g} s of work: all are used",
                rule=limit.origin,
                fuse=RUNTIME,
                scope=limit.scope,
            )
    return None


def left_s(effective: Effective, *, spent: Spent, raised: Spent) -> float | None:
    """Say how long a state may still work; None when nothing limits it.

    Args:
        effective: The policy of the state.
        spent: What was spent, by scope and unit.
        raised: Limits that a person has set anew for this run.
    """
    places = [((limit.scope, RUNTIME), limit.value) for limit in runtimes(effective)]
    return min((raised.get(place, most) - spent.get(place, 0.0) for place, most in places), default=None)


def runtimes(effective: Effective) -> tuple[Limit, ...]:
    """List the limits on the time in which a state works, outermost first.

    Args:
        effective: The policy of the state.
    """
    return tuple(limit for limit in effective.limits if limit.unit == RUNTIME)
