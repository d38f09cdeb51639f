"""The stock: orders read from CSV."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.support_desk.stock import read_orders
from stateward.errors import ConfigError

HEAD = "order_id,customer,item,amount_eur,status,ordered_at,eta,paid_times\n"


def test_the_sample_orders_are_unique_and_many(samples: Path) -> None:
    """There are at least forty, each number once."""
    orders = read_orders(samples / "orders.csv")
    assert len(orders) >= 40
    assert len({order.order_id for order in orders}) == len(orders)


@pytest.mark.parametrize(
    ("row", "key"),
    [
        ("A-1,a@example.com,x,1.00,lost,2026-01-01,2026-01-02,1", "order_id"),
        ("A-10001,a@example.com,x,-1,lost,2026-01-01,2026-01-02,1", "amount_eur"),
        ("A-10001,a@example.com,x,1.00,gone,2026-01-01,2026-01-02,1", "status"),
        ("A-10001,a@example.com,x,1.00,lost,2026-01-01,soon,1", "eta"),
    ],
)
def test_a_wrong_row_is_named_by_line_and_column(tmp_path: Path, row: str, key: str) -> None:
    """The error says where the file is wrong."""
    file = tmp_path / "orders.csv"
    file.write_text(HEAD + row + "\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"`{key}` in `.*orders\.csv:2`"):
        read_orders(file)
