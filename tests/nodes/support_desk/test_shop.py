"""The shop: orders, effects and how often each happened."""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nodes.support_desk.shop import Shop

KEY = "key-1"


def test_an_order_is_found_with_what_was_paid_and_refunded(shop: Shop) -> None:
    """`lookup_order` returns the row of the CSV file, the refunds and the return."""
    order = shop.lookup_order("A-10227")
    assert order["customer"] == "ralf.engel@example.org"
    assert (order["amount_eur"], order["paid_times"], order["refunded_eur"]) == (219.0, 2, 0.0)
    assert order["return_id"] is None


def test_an_unknown_order_is_a_result_and_no_exception(shop: Shop) -> None:
    """A domain error has a code and a reason, and leaves no effect."""
    for result in (
        shop.lookup_order("A-99999"),
        shop.create_return("A-99999", reason="r", key=KEY),
        shop.issue_refund("A-99999", amount_eur=1.0, key=KEY),
    ):
        assert result["error"] == "unknown_order"
    assert shop.effects() == ()


def test_orders_of_a_customer_are_found_whatever_the_letters_case(shop: Shop) -> None:
    """`orders_of` compares addresses without case."""
    assert [order["order_id"] for order in shop.orders_of("Beth.Carver@EXAMPLE.com")] == ["A-10221"]


def test_a_known_key_returns_the_first_refund_and_pays_nothing(shop: Shop) -> None:
    """`issue_refund` is idempotent by key."""
    first = shop.issue_refund("A-10227", amount_eur=219.0, key=KEY)
    assert shop.issue_refund("A-10227", amount_eur=219.0, key=KEY) == first == shop.effect(KEY)
    assert len(shop.effects()) == 1
    assert shop.lookup_order("A-10227")["refunded_eur"] == 219.0


def test_more_than_was_paid_is_never_refunded(shop: Shop) -> None:
    """Refunds of one order add up to at most what was paid for it."""
    assert shop.issue_refund("A-10227", amount_eur=438.01, key="a")["error"] == "over_paid"
    assert "error" not in shop.issue_refund("A-10227", amount_eur=438.0, key="b")
    assert shop.issue_refund("A-10227", amount_eur=0.01, key="c")["error"] == "over_paid"


@pytest.mark.parametrize("amount", [0.0, -5.0, 0.001, math.nan, math.inf, -math.inf])
def test_an_amount_that_is_none_is_refused(shop: Shop, amount: float) -> None:
    """Only finite amounts of a cent or more are refunded."""
    assert shop.issue_refund("A-10227", amount_eur=amount, key=KEY)["error"] == "bad_amount"
    assert shop.effects() == ()


def test_cents_are_counted_exactly(shop: Shop) -> None:
    """Two refunds that add up to the price leave nothing, in spite of binary fractions."""
    shop.issue_refund("A-10231", amount_eur=74.89, key="a")
    shop.issue_refund("A-10231", amount_eur=0.10, key="b")
    assert shop.lookup_order("A-10231")["refunded_eur"] == 74.99


def test_a_return_is_created_once_for_a_delivered_order(shop: Shop) -> None:
    """The second return, under another key, is refused."""
    assert shop.create_return("A-10211", reason="too big", key="a")["return_id"] == "R-10211"
    assert shop.create_return("A-10211", reason="too big", key="b")["error"] == "already_returned"
    assert shop.create_return("A-10201", reason="late", key="c")["error"] == "not_delivered"
    assert shop.lookup_order("A-10211")["return_id"] == "R-10211"


def test_mails_and_deletions_act_every_time_and_are_counted(shop: Shop) -> None:
    """Effects that are not idempotent leave a row each; `duplicates` names their key."""
    for _ in range(3):
        shop.send_email("a@example.com", subject="s", body="b", key="mail")
    shop.delete_account("mia.castle@example.com", key="gone")
    assert [(one.key, one.tool, one.count) for one in shop.duplicates()] == [("mail", "send_email", 3)]
    assert len(shop.effects()) == 4


def test_the_same_effect_under_two_keys_is_a_repeat(shop: Shop) -> None:
    """`repeats` finds what different keys would hide."""
    for key in ("a", "b"):
        shop.issue_refund("A-10227", amount_eur=1.0, key=key)
    assert shop.duplicates() == []
    assert [(one.key, one.count) for one in shop.repeats()] == [("a", 2)]


def test_an_address_with_a_line_break_gets_no_mail(shop: Shop) -> None:
    """Headers cannot be smuggled into a mail."""
    sent = shop.send_email("a@example.com\nBcc: b@example.com", subject="s", body="b", key=KEY)
    assert sent["error"] == "bad_address"
    assert shop.effect(KEY) is None


def test_an_effect_carries_its_arguments_result_and_time(shop: Shop) -> None:
    """The record is enough to see what happened."""
    result = shop.issue_refund("A-10221", amount_eur=129.0, key=KEY)
    (effect,) = shop.effects()
    assert effect.arguments == {"order_id": "A-10221", "amount_eur": 129.0}
    assert (effect.key, effect.result, effect.at) == (KEY, result, "2026-03-02T08:00:00Z")


def test_a_file_keeps_its_effects_and_is_filled_once(tmp_path: Path) -> None:
    """Opening a shop again finds what happened, and the same orders."""
    with Shop(tmp_path / "shop.db") as first:
        first.issue_refund("A-10221", amount_eur=129.0, key=KEY)
    with Shop(tmp_path / "shop.db") as again:
        assert again.effect(KEY) is not None
        assert again.lookup_order("A-10221")["refunded_eur"] == 129.0


def test_threads_with_one_key_act_once(tmp_path: Path) -> None:
    """Eight shops on one new file race for the filling and for one key."""
    shops = [Shop(tmp_path / "shop.db") for _ in range(8)]

    def act(one: Shop) -> dict[str, object]:
        return one.issue_refund("A-10227", amount_eur=219.0, key=KEY)

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(act, shops))
    assert all(result == results[0] for result in results)
    assert len(shops[0].effects()) == 1
    for one in shops:
        one.close()


@pytest.mark.slow
def test_processes_with_one_key_act_once(tmp_path: Path) -> None:
    """Four processes race for the filling and for one key."""
    code = (
        "import sys; from nodes.support_desk.shop import Shop; shop = Shop(sys.argv[1]);"
        "print(shop.issue_refund('A-10227', amount_eur=219.0, key='k')['refund_id'])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "shop.db")]
    root = Path(__file__).parents[3]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) for _ in range(4)]
    assert {process.communicate()[0].strip() for process in running} == {"F-10227-1"}
    with Shop(tmp_path / "shop.db") as shop:
        assert len(shop.effects()) == 1


def test_a_folder_that_cannot_be_loaded_leaves_an_empty_database(tmp_path: Path) -> None:
    """A failed filling is rolled back, so that the next try fills."""
    with Shop(tmp_path / "shop.db", samples=tmp_path) as broken, pytest.raises(FileNotFoundError):
        broken.effects()
    with sqlite3.connect(tmp_path / "shop.db") as db:
        assert db.execute("SELECT name FROM sqlite_master WHERE name = 'orders'").fetchone() is None
    db.close()
    with Shop(tmp_path / "shop.db") as shop:
        assert shop.lookup_order("A-10201")["status"] == "delayed"
