"""Charges: what a call reserves before it runs, in every scope that counts it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from stateward.govern.effective import Counted, Effective
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
    amounts = _amounts(request)
    return tuple(
        _charge(limit, scope=scope, unit=unit, amount=amounts[unit], raised=raised or {})
        for scope, unit, limit in _counted(effective, request=request)
        if unit in amounts
    )


def _counted(effective: Effective, *, request: CallRequest) -> tuple[Counted, ...]:
    """List where calls of a tool or of models count; worked out once for all states under the same policies."""
    key = request.name if request.kind == "tool" else None
    found = effective.counted.get(key)
    if found is None:
        limits = {(limit.scope, limit.unit): limit for limit in _limits(effective, tool=key)}
        units = ("turns", "tokens", "usd") if key is None else (f"calls:{key}", "calls", "usd")
        found = tuple((scope, unit, limits.get((scope, unit))) for unit in units for scope in effective.scopes)
        effective.counted[key] = found
    return found


def _limits(effective: Effective, *, tool: str | None) -> Iterator[Limit]:
    yield from effective.limits
    if tool is not None:
        yield from effective.limits_on(tool)


def _amounts(request: CallRequest) -> dict[str, float]:
    cost = request.estimate_usd or 0.0
    if request.kind == "tool":
        return {f"calls:{request.name}": 1.0, "calls": 1.0, "usd": cost}
    tokens = {} if request.estimate_tokens == 0 else {"tokens": float(request.estimate_tokens or 0)}
    return {"turns": 1.0, **tokens, "usd": cost}


def _charge(limit: Limit | None, *, scope: str, unit: str, amount: float, raised: Spent) -> Charge:
    if limit is None:
        return Charge(scope=scope, unit=unit, amount=amount)
    value = raised.get((scope, unit), limit.value)
    return Charge(scope=scope, unit=unit, amount=amount, limit=value, origin=limit.origin)


def bounds(
    effective: Effective, *, request: CallRequest, raised: Spent
) -> Iterator[tuple[str, str, float, float | None]]:
    """Yield the charges of a call without where their limits come from.

    Args:
        effective: The policy of the state that wants the call.
        request: The call.
        raised: Limits that a person has set anew for this run, by scope and unit.

    Yields:
        Scope, unit, amount and limit of each.
    """
    amounts = _amounts(request)
    for scope, unit, limit in _counted(effective, request=request):
        if unit in amounts:
            yield scope, unit, amounts[unit], None if limit is None else raised.get((scope, unit), limit.value)


def overspent(effective: Effective, *, request: CallRequest, facts: Facts) -> Deny | None:
    """Refuse a call that would pass a limit, or whose cost has no bound where one is limited.

    Args:
        effective: The policy of the state that wants the call.
        request: The call.
        facts: What was spent.
    """
    amounts = _amounts(request)
    for scope, unit, limit in _counted(effective, request=request):
        if limit is None or unit not in amounts:
            continue
        if _is_unbounded(unit, request):
            return _unbounded(limit, request=request)
        most, used = facts.raised.get((scope, unit), limit.value), facts.spent.get((scope, unit), 0.0)
        # Nine digits: sums of float prices must not trip a fuse by their rounding.
        # Asked this way round, a number that is none (NaN) trips the fuse.
        if not round(used + amounts[unit], 9) <= most:
            return _tripped(limit, most=most, used=used, more=amounts[unit])
    return None


def _is_unbounded(unit: str, request: CallRequest) -> bool:
    bounds = {"usd": request.estimate_usd, "tokens": request.estimate_tokens}
    return unit in bounds and bounds[unit] is None


def _unbounded(limit: Limit, *, request: CallRequest) -> Deny:
    named, fuse = ("may cost", "a money fuse") if limit.unit == "usd" else ("may take in tokens", "a fuse on tokens")
    because = f": {request.unbounded}" if request.unbounded else ""
    return Deny(
        reason=f"what {request.kind} `{request.name}` {named} has no known bound, and {fuse} is set{because}",
        rule=limit.origin,
        scope=limit.scope,
    )


def _tripped(limit: Limit, *, most: float, used: float, more: float) -> Deny:
    limited = f"`{limit.unit}` in `{limit.scope or ROOT_LABEL}` is limited to {most:g}"
    return Deny(
        reason=f"{limited}: {used:g} spent, {more:g} more asked",
        rule=limit.origin,
        fuse=_fuse(limit.unit),
        scope=limit.scope,
    )


def _fuse(unit: str) -> FuseName | None:
    return next((name for name in get_args(FuseName) if name == unit), None)
