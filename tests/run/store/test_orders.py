"""Orders to the call that runs a session."""

from __future__ import annotations

from stateward.run.registry import Order
from stateward.run.store.database import Database
from stateward.run.store.orders import DRAIN, cancelling


def test_order_is_found_by_whoever_looks(database: Database) -> None:
    """Once, unless something was written since."""
    database.orders.give("s1", fence=2, kind="cancelled", by="ann", reason="why")
    assert database.orders.new() == (Order(session="s1", fence=2, halt=cancelling(by="ann", reason="why")),)
    assert database.orders.new() == ()


def test_order_to_drain_stops_nothing(database: Database) -> None:
    """It has no halt."""
    database.orders.give("s1", fence=2, kind=DRAIN, by="ann", reason="")
    assert [order.halt for order in database.orders.new()] == [None]


def test_first_order_of_a_kind_stands(database: Database) -> None:
    """Who orders the same again changes nothing, and the audit log tells the first."""
    for who in ("ann", "bob"):
        database.orders.give("s1", fence=2, kind="cancelled", by=who, reason="")
    assert [row.record["by"] for row in database.audit.rows("s1")] == ["ann"]


def test_orders_to_calls_that_are_over_are_forgotten(database: Database) -> None:
    """By the next order, or by whoever saw the end."""
    for fence in (1, 2):
        database.orders.give("s1", fence=fence, kind="cancelled", by="ann", reason="")
    assert [order.fence for order in database.orders.new()] == [2]
    database.orders.clear("s1", fence=2)
    assert database.orders.new() == ()
