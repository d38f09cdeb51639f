"""What the billing specialist sees: one account, its plan and its charges, the same in every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import stateward as sw


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One charge of an account."""

    id: str
    day: str
    """ISO date."""
    usd: float
    about: str

    @property
    def key(self) -> tuple[str, float, str]:
        """What two charges have in common that should have been one."""
        return self.day, self.usd, self.about


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One customer's account."""

    plan: str
    usd_a_month: float
    charges: tuple[Charge, ...]


ACCOUNTS: Mapping[str, Account] = {
    "ann": Account(
        plan="pro",
        usd_a_month=20.0,
        charges=(
            Charge(id="CH-101", day="2026-10-01", usd=20.0, about="pro, October"),
            Charge(id="CH-102", day="2026-11-01", usd=20.0, about="pro, November"),
            Charge(id="CH-103", day="2026-11-01", usd=20.0, about="pro, November"),
        ),
    ),
    "bob": Account(
        plan="free", usd_a_month=0.0, charges=(Charge(id="CH-201", day="2026-11-05", usd=5.0, about="extra seat"),)
    ),
}
"""Customer to account."""


def duplicates(charges: Sequence[Charge]) -> tuple[Charge, ...]:
    """Return the charges that repeat an earlier one.

    Args:
        charges: Charges of one account, in their order.
    """
    return tuple(charge for at, charge in enumerate(charges) if charge.key in {one.key for one in charges[:at]})


def account_tools(customer: str) -> Sequence[Any]:
    """Make the tools over the accounts.

    Whose account it is comes from the session's tenant, never from what a model or a customer writes.

    Args:
        customer: Whose account it is in a session without a tenant.

    Returns:
        Governed tools: reading charges and plan, and giving a charge back; pass them to `compile`.
    """

    @sw.tool(effect="pure", cleared="personal")
    def list_charges(*, ctx: sw.ToolContext) -> dict[str, list[dict[str, str | float]] | list[str]]:
        """List the charges of the customer's account, and which of them repeat an earlier one."""
        charges = _account(ctx.tenant or customer).charges
        listed: list[dict[str, str | float]] = [
            {"id": one.id, "day": one.day, "usd": one.usd, "about": one.about} for one in charges
        ]
        return {"charges": listed, "duplicates": [one.id for one in duplicates(charges)]}

    @sw.tool(effect="pure", cleared="personal")
    def show_plan(*, ctx: sw.ToolContext) -> dict[str, str | float]:
        """Show the plan of the customer's account."""
        account = _account(ctx.tenant or customer)
        return {"plan": account.plan, "usd_a_month": account.usd_a_month}

    @sw.tool(effect="idempotent", cleared="personal")
    def give_back(charge: str, *, ctx: sw.ToolContext) -> dict[str, str | float]:
        """Give the money of a charge back to the customer."""
        charges = _account(ctx.tenant or customer).charges
        found = next((one for one in duplicates(charges) if one.id == charge), None)
        if found is None:
            raise ValueError(f"`{charge}` repeats no other charge of this account, so it is not given back")
        return {"charge": found.id, "usd": found.usd, "receipt": ctx.idempotency_key[:12]}

    return (list_charges, show_plan, give_back)


def _account(customer: str) -> Account:
    found = ACCOUNTS.get(customer)
    if found is None:
        raise ValueError(f"there is no account `{customer}`")
    return found
