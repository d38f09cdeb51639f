"""The desk's tools over the shop, each with its declared effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import stateward as sw
from nodes.support_desk.shop import Result, Shop
from stateward.govern.kinds.shape import Sensitivity

RESTRICTED = ("issue_refund", "send_email")
"""What the policy asks a person about; only for showing, the policy decides."""

CLEARED: Sensitivity = "personal"
"""The shop is the house's own, so its tools may see what customers write."""


def desk_tools(shop: Shop) -> Sequence[Any]:
    """Make the tools.

    Args:
        shop: The shop they read and act on.

    Returns:
        Governed tools; pass them to `compile`.
    """

    @sw.tool(effect="pure", cleared=CLEARED)
    def lookup_order(order_id: str) -> Result:
        """Look up one order by its number, like A-10234."""
        return shop.lookup_order(order_id)

    @sw.tool(effect="pure", cleared=CLEARED)
    def search_kb(query: str) -> Result:
        """Search the knowledge base for the article that fits best."""
        return shop.search_kb(query)

    @sw.tool(effect="idempotent", cleared=CLEARED)
    def create_return(order_id: str, reason: str, *, ctx: sw.ToolContext) -> Result:
        """Create a return for a delivered order."""
        return shop.create_return(order_id, reason=reason, key=ctx.idempotency_key)

    @sw.tool(effect="idempotent", cleared=CLEARED)
    def issue_refund(order_id: str, amount_eur: float, *, ctx: sw.ToolContext) -> Result:
        """Pay money back to the customer."""
        return shop.issue_refund(order_id, amount_eur=amount_eur, key=ctx.idempotency_key)

    @sw.tool(effect="once", lookup=shop.effect, cleared=CLEARED)
    def send_email(to: str, subject: str, body: str, *, ctx: sw.ToolContext) -> Result:
        """Send an e-mail to the customer."""
        return shop.send_email(to, subject=subject, body=body, key=ctx.idempotency_key)

    @sw.tool(effect="once", lookup=shop.effect, cleared=CLEARED)
    def delete_account(email: str, *, ctx: sw.ToolContext) -> Result:
        """Delete a customer's account."""
        return shop.delete_account(email, key=ctx.idempotency_key)

    return (lookup_order, search_kb, create_return, issue_refund, send_email, delete_account)
