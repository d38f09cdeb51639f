"""What calls reserve and spend, in whole billionths of a unit, so that no limit is missed by rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from stateward.errors import GovernanceError
from stateward.run.store.standing import Standing

BILLION = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """What a call may spend at most in one scope."""

    scope: str
    """Path of the state whose policy counts it; empty for the chart itself."""
    unit: str
    """What is counted: turns, usd, calls, or calls:<tool>."""
    amount: float
    """The upper bound, in units, from 0."""
    limit: float | None = None
    """What the scope may spend in this run; None when nothing limits it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tripped:
    """A reservation that would have passed its limit; nothing was written."""

    scope: str
    unit: str
    limit: float
    spent: float
    """Spent and reserved before the call."""
    asked: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """A reserved or spent amount of one call, in billionths of its unit."""

    scope: str
    unit: str
    billionths: int


Judge = Callable[[Standing], Sequence[Reservation] | None]
"""Given how a run stands: what a call reserves; None when it may not be made, or not at once."""


def to_billionths(amount: float) -> int:
    """Turn an amount into whole billionths of its unit.

    Args:
        amount: Finite, from 0 to about 9e9.

    Returns:
        The nearest whole number.

    Raises:
        GovernanceError: The amount is negative, infinite, not a number or too large.
    """
    if not math.isfinite(amount) or amount < 0 or amount > 9e9:
        raise GovernanceError(
            f"An amount is {amount!r}, expected a number from 0 to 9e9",
            fix="Correct the estimate or the limit in the policy.",
        )
    return round(amount * BILLION)


def first_trip(
    asked: Mapping[tuple[str, str], int],
    *,
    used: Mapping[tuple[str, str], int],
    limits: Mapping[tuple[str, str], int],
) -> tuple[str, str] | None:
    """Find the first scope and unit that a call would drive past its limit.

    Args:
        asked: What the call reserves.
        used: What is spent and reserved.
        limits: The limits; a key that is absent has none.

    Returns:
        Scope and unit; None when all fit.
    """
    return next((key for key, more in asked.items() if key in limits and used.get(key, 0) + more > limits[key]), None)


def settled(charges: Sequence[Charge], *, spent: Mapping[str, float]) -> tuple[Charge, ...]:
    """Replace the charges of a call by what it spent.

    Args:
        charges: What was reserved, or charged before.
        spent: What was spent, by unit; a unit that is absent keeps its charge, a unit that was never
            reserved is charged to the chart itself.

    Returns:
        The new charges.

    Raises:
        GovernanceError: An amount is no finite number from 0.
    """
    if not spent:
        return tuple(charges)
    new = {unit: to_billionths(amount) for unit, amount in spent.items()}
    kept = tuple(
        c if new.get(c.unit, c.billionths) == c.billionths else replace(c, billionths=new[c.unit]) for c in charges
    )
    known = {charge.unit for charge in charges}
    extra = (Charge(scope="", unit=unit, billionths=n) for unit, n in new.items() if unit not in known)
    return (*kept, *extra)


def added(charges: Sequence[Charge], *, more: Sequence[Charge]) -> tuple[Charge, ...]:
    """Put further charges of a call onto those it has.

    Args:
        charges: What it has reserved.
        more: What it reserves besides.

    Returns:
        One charge for each scope and unit.
    """
    sums = {(charge.scope, charge.unit): charge.billionths for charge in charges}
    for charge in more:
        place = (charge.scope, charge.unit)
        sums[place] = sums.get(place, 0) + charge.billionths
    return tuple(Charge(scope=scope, unit=unit, billionths=n) for (scope, unit), n in sums.items())


def overrun(charges: Sequence[Charge], *, now: Sequence[Charge]) -> dict[str, float]:
    """Say by how much a call spent more than it had reserved.

    Args:
        charges: What was reserved.
        now: What was spent, from `settled`.

    Returns:
        The excess by unit, only where there is one and where something was reserved.
    """
    reserved = {charge.unit: charge.billionths for charge in charges}
    return {
        charge.unit: (charge.billionths - reserved[charge.unit]) / BILLION
        for charge in now
        if charge.billionths > reserved.get(charge.unit, 0) > 0
    }


def fitting(reservations: Sequence[Reservation], *, standing: Standing) -> Tripped | tuple[Charge, ...]:
    """Say what a call reserves, if it may.

    Args:
        reservations: The upper bounds; those of one scope and unit are added up.
        standing: How the run stands.

    Returns:
        The charges, or the first limit that would be passed.

    Raises:
        GovernanceError: An amount or limit is no finite number from 0.
    """
    asked, limits = _collect(reservations)
    limits.update(standing.limits)
    key = first_trip(asked, used=standing.used, limits=limits)
    if key is not None:
        limit, before, more = (n / BILLION for n in (limits[key], standing.used.get(key, 0), asked[key]))
        return Tripped(scope=key[0], unit=key[1], limit=limit, spent=before, asked=more)
    return tuple(Charge(scope=scope, unit=unit, billionths=n) for (scope, unit), n in asked.items())


def _collect(
    reservations: Sequence[Reservation],
) -> tuple[dict[tuple[str, str], int], dict[tuple[str, str], int]]:
    asked: dict[tuple[str, str], int] = {}
    limits: dict[tuple[str, str], int] = {}
    for item in reservations:
        key = (item.scope, item.unit)
        asked[key] = asked.get(key, 0) + to_billionths(item.amount)
        if item.limit is not None:
            limits[key] = min(to_billionths(item.limit), limits.get(key, 9 * BILLION * BILLION))
    return asked, limits
