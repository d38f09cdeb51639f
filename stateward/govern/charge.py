"""Charges: what a call reserves before it runs, in every scope that counts it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from stateward.govern.effective import Effective
from stateward.govern.layer import ROOT_LABEL, Limit
from stateward.govern.request import CallRequest, Facts, Spent
from stateward.govern.verdict import Deny, FuseName


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What a call reserves in one scope before it runs."""

    scope: str
    unit: str
    amount: float
    limit: float | None = None
    """The most that may be spent there, raised limits included; None when nothing limits it."""
    origin: str = ""


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
    scopes = effective.scopes
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
        tokens = () if request.estimate_tokens == 0 else (("tokens", float(request.estimate_tokens or 0)),)
        return (("turns", 1.0), *tokens, ("usd", cost))
    return ((f"calls:{request.name}", 1.0), ("calls", 1.0), ("usd", cost))


def _charge(limit: Limit | None, *, scope: str, unit: str, amount: float, raised: Spent) -> Charge:
    if limit is None:
        return Charge(scope=scope, unit=unit, amount=amount)
    value = raised.get((scope, unit), limit.value)
    return Charge(scope=scope, unit=unit, amount=amount, limit=value, origin=limit.origin)


def overspent(effective: Effective, *, request: CallRequest, facts: Facts) -> Deny | None:
    """Refuse a call that would pass a limit, or whose cost has no bound where one is limited.

    Args:
        effective: The policy of the state that wants the call.
        request: The call.
        facts: What was spent.
    """
    for charge in charges(effective, request=request, raised=facts.raised):
        if charge.limit is None:
            continue
        if _is_unbounded(charge.unit, request):
            return _unbounded(charge, request=request)
        used = facts.spent.get((charge.scope, charge.unit), 0.0)
        # Nine digits: sums of float prices must not trip a fuse by their rounding.
        # Asked this way round, a number that is none (NaN) trips the fuse.
        if not round(used + charge.amount, 9) <= charge.limit:
            return _tripped(charge, used=used)
    return None


def _is_unbounded(unit: str, request: CallRequest) -> bool:
    bounds = {"usd": request.estimate_usd, "tokens": request.estimate_tokens}
    return unit in bounds and bounds[unit] is None


def _unbounded(charge: Charge, *, request: CallRequest) -> Deny:
    named, fuse = ("may cost", "a money fuse") if charge.unit == "usd" else ("may take in tokens", "a fuse on tokens")
    because = f": {request.unbounded}" if request.unbounded else ""
    return Deny(
        reason=f"what {request.kind} `{request.name}` {named} has no known bound, and {fuse} is set{because}",
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
    return next((name for name in get_args(FuseName) if name == unit), None)
