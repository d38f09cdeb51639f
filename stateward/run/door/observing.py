"""Observe mode: what policies that only observe would have done to a call that passes; it is written down, no more."""

from __future__ import annotations

from stateward.govern.decision import CallRequest, Decision, Deny, NeedsApproval, decide
from stateward.govern.effective import Effective
from stateward.govern.rate import Pause
from stateward.govern.request import Facts
from stateward.run.door.report import Report


def decided(effective: Effective, *, request: CallRequest, facts: Facts) -> Decision:
    """Decide a call by the facts that were read for it.

    Args:
        effective: The policy.
        request: The call.
        facts: What is known of the run.
    """
    return decide(
        effective,
        request=request,
        spent=facts.spent,
        approved=facts.approved,
        raised=facts.raised,
        revoked=facts.revoked,
    )


def observed(
    report: Report, trial: Effective, request: CallRequest, call: int, facts: Facts, *, pause: Pause | None
) -> None:
    """Write down what would have been done to a call, if it is something else; blocking.

    Args:
        report: The audit log.
        trial: What would hold if the policies that only observe were in force.
        request: A call that passes.
        call: Its number in the activation.
        facts: What it was decided by.
        pause: How long it would have had to wait; None for not at all.
    """
    would = decided(trial, request=request, facts=facts)
    if isinstance(would, Deny | NeedsApproval):
        what = "would_deny" if isinstance(would, Deny) else "would_ask"
        report.write(what, request.name, request.arguments, would.reason, call, more={"rule": would.rule})
    elif pause is not None:
        more = {"rule": pause.limit.origin}
        report.write("would_wait", request.name, request.arguments, pause.told(), call, more=more)
