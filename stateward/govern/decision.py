"""The decision on one call: pure, made from the effective policy and what was spent.

The order of the checks is fixed, and each stops at its first refusal:

1. declared: the state's `tools` or `model` names it;
2. forbidden: no layer forbids the tool;
3. count: the tool's own `max_calls`, outermost scope first;
4. calls: the fuse on tool calls;
5. turns: the fuse on model calls;
6. money: spent plus this call's upper bound; a call without a bound is refused under a money fuse;
7. approval: a restricted tool needs a person.

Approval comes last, so that nobody is asked about a call that would be refused anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from stateward.govern.effective import Effective
from stateward.govern.layer import ROOT_LABEL, Limit
from stateward.govern.ruling import known_level

CallKind = Literal["tool", "model"]
"""What a call goes to.

tool: a registered function. model: a chat model, named by its role.
"""

FuseName = Literal["turns", "usd", "calls"]
"""Which fuse tripped; it becomes the event `fuse.<name>`.

turns: model calls. usd: money. calls: tool calls.
"""

Spent = Mapping[tuple[str, str], float]
"""What was spent and reserved, by scope and unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """A call that someone wants to make."""

    kind: CallKind
    name: str
    """The tool's name, or the model's role."""
    arguments: Mapping[str, object]
    path: str
    """The path of the state that wants it."""
    declared: frozenset[str]
    """What that state declares: its tools and its model role."""
    estimate_usd: float | None = 0.0
    """The most this call can cost, in US dollars; None when no bound is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What a call reserves in one scope before it runs."""

    scope: str
    unit: str
    amount: float
    limit: float | None = None
    """The most that may be spent there, raised limits included; None when nothing limits it."""
    origin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """The call may run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsApproval:
    """The call may run once a person has approved it."""

    reason: str
    rule: str
    approvers: tuple[str, ...] = ()
    """Who may approve; empty means anyone who can answer asks."""
    expires_s: float | None = None
    """How many seconds to wait for them; None means without end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """The call may not run; the reason goes back to its author."""

    reason: str
    rule: str
    fuse: FuseName | None = None
    """The fuse that tripped, None when the refusal is no fuse."""
    scope: str | None = None
    """The scope of the limit that tripped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Modify:
    """The call may run with other arguments."""

    reason: str
    rule: str
    arguments: Mapping[str, object]


Decision = Allow | NeedsApproval | Deny | Modify


def decide(
    effective: Effective,
    *,
    request: CallRequest,
    spent: Spent,
    approved: bool = False,
    raised: Spent | None = None,
) -> Decision:
    """Decide whether a call may run.

    Args:
        effective: The policy of the state that wants the call.
        request: The call.
        spent: What was spent and reserved before this call, by scope and unit.
        approved: Whether a person has approved this very call.
        raised: Limits that a person has set anew for this run, by scope and unit.

    Returns:
        The first refusal in the order of this module's head, else `NeedsApproval`, else `Allow`.
    """
    refusal = (
        _undeclared(request)
        or _forbidden(effective, request=request)
        or _overspent(charges(effective, request=request, raised=raised), request=request, spent=spent)
    )
    return refusal or _approval(effective, request=request, approved=approved)


def charges(effective: Effective, *, request: CallRequest, raised: Spent | None = None) -> tuple[Charge, ...]:
    """List what a call reserves, in every scope it lies in.

    The chart itself is always one of the scopes, so that a ledger of charges also holds the run's totals.

    Args:
        effective: The policy of the state that wants the call.
        request: The call.
        raised: Limits that a person has set anew for this run, by scope and unit.

    Returns:
        One charge for each unit and scope, in the order in which limits are checked.
    """
    limits = {(limit.scope, limit.unit): limit for limit in _limits(effective, request=request)}
    scopes = tuple(dict.fromkeys(("", *(layer.scope for layer in effective.layers))))
    return tuple(
        _charge(limits.get((scope, unit)), scope=scope, unit=unit, amount=amount, raised=raised or {})
        for unit, amount in _units(request)
        for scope in scopes
    )


def _limits(effective: Effective, *, request: CallRequest) -> Iterator[Limit]:
    yield from effective.limits
    if request.kind == "tool":
        yield from effective.limits_on(request.name)


def _units(request: CallRequest) -> tuple[tuple[str, float], ...]:
    cost = request.estimate_usd or 0.0
    if request.kind == "model":
        return (("turns", 1.0), ("usd", cost))
    return ((f"calls:{request.name}", 1.0), ("calls", 1.0), ("usd", cost))


def _charge(limit: Limit | None, *, scope: str, unit: str, amount: float, raised: Spent) -> Charge:
    if limit is None:
        return Charge(scope=scope, unit=unit, amount=amount)
    value = raised.get((scope, unit), limit.value)
    return Charge(scope=scope, unit=unit, amount=amount, limit=value, origin=limit.origin)


def _undeclared(request: CallRequest) -> Deny | None:
    if request.name in request.declared:
        return None
    known = ", ".join(f"`{name}`" for name in sorted(request.declared)) or "nothing"
    return Deny(
        reason=f"`{request.path}` does not declare {request.kind} `{request.name}`; it declares {known}",
        rule="declared",
    )


def _forbidden(effective: Effective, *, request: CallRequest) -> Deny | None:
    if request.kind != "tool":
        return None
    ruling = effective.level(request.name)
    if known_level(ruling.level) != "forbidden":
        return None
    return Deny(reason=f"tool `{request.name}` is forbidden here", rule=ruling.origin)


def _overspent(asked: tuple[Charge, ...], *, request: CallRequest, spent: Spent) -> Deny | None:
    for charge in asked:
        if charge.limit is None:
            continue
        if charge.unit == "usd" and request.estimate_usd is None:
            return _unbounded(charge, request=request)
        used = spent.get((charge.scope, charge.unit), 0.0)
        # Nine digits: sums of float prices must not trip a fuse by their rounding.
        # Asked this way round, a number that is none (NaN) trips the fuse.
        if not round(used + charge.amount, 9) <= charge.limit:
            return _tripped(charge, used=used)
    return None


def _unbounded(charge: Charge, *, request: CallRequest) -> Deny:
    return Deny(
        reason=f"what {request.kind} `{request.name}` may cost has no known bound, and a money fuse is set",
        rule=charge.origin,
        scope=charge.scope,
    )


def _tripped(charge: Charge, *, used: float) -> Deny:
    limited = f"`{charge.unit}` in `{charge.scope or ROOT_LABEL}` is limited to {charge.limit:g}"
    return Deny(
        reason=f"{limited}: {used:g} spent, {charge.amount:g} more asked",
        rule=charge.origin,
        fuse=_fuse(charge.unit),
        scope=charge.scope,
    )


def _fuse(unit: str) -> FuseName | None:
    if unit == "turns" or unit == "usd" or unit == "calls":
        return unit
    return None


def _approval(effective: Effective, *, request: CallRequest, approved: bool) -> Decision:
    if approved or request.kind != "tool":
        return Allow()
    ruling = effective.level(request.name)
    if known_level(ruling.level) == "allowed":
        return Allow()
    if ruling.approvers == ():
        return Deny(reason=f"tool `{request.name}` needs an approval that nobody may give", rule=ruling.origin)
    return NeedsApproval(
        reason=f"tool `{request.name}` is restricted here",
        rule=ruling.origin,
        approvers=ruling.approvers or (),
        expires_s=ruling.expires_s,
    )
