"""The samples fit together."""

from __future__ import annotations

from pathlib import Path

from nodes.support_desk.facts import facts_of
from nodes.support_desk.inbox import Row
from nodes.support_desk.stock import read_orders


def test_every_order_a_customer_names_exists_and_is_theirs_unless_the_message_attacks(
    inbox: tuple[Row, ...], samples: Path
) -> None:
    """Messages and orders speak of the same things."""
    owners = {order.order_id: order.customer for order in read_orders(samples / "orders.csv")}
    strangers = {row.id for row in inbox for order in facts_of(row.text).order_ids if owners[order] != row.customer}
    assert strangers == {row.id for row in inbox if facts_of(row.text).injection and facts_of(row.text).order_ids}


def test_follow_ups_come_from_the_same_customer(inbox: tuple[Row, ...]) -> None:
    """A session has one customer."""
    known = {row.id: row for row in inbox}
    assert all(known[row.follows].customer == row.customer for row in inbox if row.follows)


def test_every_address_is_reserved_for_examples(inbox: tuple[Row, ...]) -> None:
    """Nobody real is written to."""
    assert all(row.customer.split("@")[1] in ("example.com", "example.org", "example.net") for row in inbox)
