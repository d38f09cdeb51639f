"""Outcomes: what became of the planned calls, and notes on what was not planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

NoteCode = Literal[
    "ask_order",
    "unknown_order",
    "not_yours",
    "lookup_failed",
    "not_delivered",
    "already_returned",
    "already_refunded",
    "single_payment",
    "refund_after_return",
    "refund_needs_return",
    "lost_choice",
    "distrusted",
]
"""Why something was not planned.

ask_order: the customer names no order. unknown_order: no order has that number. not_yours: the order is somebody
else's. lookup_failed: the order could not be read. not_delivered: only delivered orders can be returned.
already_returned, already_refunded: it was done before. single_payment: the order was paid once only.
refund_after_return: the money follows the goods. refund_needs_return: the goods are with the customer.
lost_choice: the order is lost, the customer may choose. distrusted: the message speaks to the machine.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One thing that was not planned, and the order it is about."""

    code: NoteCode
    order: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One planned call and its observation."""

    tool: str
    arguments: Mapping[str, object]
    status: str
    """A tool result's status: `ok`, `denied`, `rejected`, `failed`, `invalid`, `timeout`, `unknown`."""
    value: Mapping[str, object]
    """What the tool returned; empty when it did not return a JSON object."""

    @property
    def done(self) -> bool:
        """Whether the call ran and its result is no domain error."""
        return self.status == "ok" and "error" not in self.value

    def to_json(self) -> dict[str, object]:
        """Return the outcome as plain JSON data."""
        return {
            "tool": self.tool,
            "arguments": dict(self.arguments),
            "status": self.status,
            "value": dict(self.value),
        }


def outcome(tool: str, *, arguments: Mapping[str, object], status: str, value: object) -> Outcome:
    """Make the outcome of one call.

    Args:
        tool: The tool's name.
        arguments: What it was called with.
        status: The tool result's status.
        value: The tool result's value; anything but a JSON object counts as empty.
    """
    plain = cast("Mapping[str, object]", value) if isinstance(value, Mapping) else dict[str, object]()
    return Outcome(tool=tool, arguments=arguments, status=status, value=plain)


def outcomes_from_json(data: Sequence[Mapping[str, object]]) -> tuple[Outcome, ...]:
    """Read outcomes from what their `to_json` made.

    Args:
        data: A list of JSON objects.
    """
    return tuple(
        outcome(
            str(item["tool"]),
            arguments=cast("Mapping[str, object]", item["arguments"]),
            status=str(item["status"]),
            value=item["value"],
        )
        for item in data
    )


def orders_in(outcomes: Sequence[Outcome]) -> Mapping[str, Outcome]:
    """Find the outcome of each order's lookup.

    Args:
        outcomes: All outcomes.

    Returns:
        The last lookup of each order, by order number.
    """
    return {str(one.arguments.get("order_id")): one for one in outcomes if one.tool == "lookup_order"}


def belongs(order: Mapping[str, object], *, customer: str) -> bool:
    """Tell whether an order is the customer's own.

    Args:
        order: The result of `lookup_order`.
        customer: The e-mail address the message came from.
    """
    return bool(customer) and str(order.get("customer", "")).casefold() == customer.casefold()
