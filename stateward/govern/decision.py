"""The decision on one call: pure, made from the effective policy and the facts of the run.

The order of the checks is fixed, and the first refusal ends it:

1. declared: the state's `tools` or `model` names it;
2. revoked: no operator has taken it back;
3. forbidden: no layer forbids the tool;
4. discovered: a tool that was found at run time is on the lists;
5. separated: no tool of a separate group was used in this run;
6. cleared: it may see data of the state's class;
7. arguments: they meet every rule on them;
8. working time: no scope has worked for as long as it may;
9. limits: the tool's own `max_calls`, calls, turns, tokens, money, each outermost scope first; a call without a bound
   is refused where money or tokens are limited;
10. approval: a restricted tool needs people.

Approval comes last, so that nobody is asked about a call that would be refused anyway.
"""

from __future__ import annotations

from collections.abc import Callable

from stateward.govern.charge import Charge as Charge
from stateward.govern.charge import charges as charges
from stateward.govern.charge import overspent
from stateward.govern.checks.approval import approval
from stateward.govern.checks.arguments import unfit
from stateward.govern.checks.clearance import uncleared
from stateward.govern.checks.declared import undeclared
from stateward.govern.checks.discovered import unlisted
from stateward.govern.checks.forbidden import forbidden
from stateward.govern.checks.revoked import revoked
from stateward.govern.checks.runtime import overtime
from stateward.govern.checks.separated import separated
from stateward.govern.effective import Effective
from stateward.govern.request import CallKind as CallKind
from stateward.govern.request import CallRequest as CallRequest
from stateward.govern.request import Facts as Facts
from stateward.govern.request import Spent as Spent
from stateward.govern.revocation import Revocation
from stateward.govern.verdict import Allow as Allow
from stateward.govern.verdict import Decision as Decision
from stateward.govern.verdict import Deny as Deny
from stateward.govern.verdict import FuseName as FuseName
from stateward.govern.verdict import Modify as Modify
from stateward.govern.verdict import NeedsApproval as NeedsApproval

Check = Callable[..., Deny | NeedsApproval | None]
"""Given `effective`, `request=` and `facts=`: why the call may not run, or None."""
ORDER: tuple[Check, ...] = (
    undeclared,
    revoked,
    forbidden,
    unlisted,
    separated,
    uncleared,
    unfit,
    overtime,
    overspent,
    approval,
)
OF_THE_CALL: tuple[Check, ...] = (undeclared, forbidden, unlisted, uncleared, unfit)
"""Those that look at the call and the policy alone."""
OF_THE_RUN: tuple[Check, ...] = tuple(check for check in ORDER if check not in OF_THE_CALL)
"""All others: they look at the facts of the run too."""
_NO_FACTS = Facts(spent={})


def decide(
    effective: Effective,
    *,
    request: CallRequest,
    spent: Spent,
    approved: bool = False,
    raised: Spent | None = None,
    revoked: tuple[Revocation, ...] = (),
) -> Decision:
    """Decide whether a call may run.

    Args:
        effective: The policy of the state that wants the call.
        request: The call.
        spent: What was spent and reserved before this call, by scope and unit.
        approved: Whether enough people have approved this very call.
        raised: Limits that a person has set anew for this run, by scope and unit.
        revoked: What an operator has taken back from the session.

    Returns:
        The first refusal in the order of this module's head, else `NeedsApproval`, else `Allow`.
    """
    facts = Facts(spent=spent, approved=approved, raised=raised or {}, revoked=revoked)
    found = (check(effective, request=request, facts=facts) for check in ORDER)
    return next((refusal for refusal in found if refusal is not None), Allow())


def is_sound(effective: Effective, *, request: CallRequest) -> bool:
    """Say whether nothing about a call itself forbids it, however its run stands.

    Args:
        effective: The policy of the state that wants the call.
        request: The call.

    Returns:
        Whether `decide` can come to `Allow`; it does when `has_standing` is true as well.
    """
    for check in OF_THE_CALL:  # noqa: SIM110  # a generator takes twice as long, and every call comes through here
        if check(effective, request=request, facts=_NO_FACTS) is not None:
            return False
    return True


def has_standing(effective: Effective, *, request: CallRequest, facts: Facts) -> bool:
    """Say whether nothing in the facts of the run stands in the way of a call.

    Args:
        effective: The policy of the state that wants the call.
        request: A call that is sound.
        facts: What is known of the run.
    """
    for check in OF_THE_RUN:  # noqa: SIM110  # as above
        if check(effective, request=request, facts=facts) is not None:
            return False
    return True
