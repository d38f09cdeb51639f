"""Accounts: which charges repeat another."""

from __future__ import annotations

from nodes.billing.accounts import ACCOUNTS, Charge, duplicates


def test_a_charge_that_repeats_an_earlier_one_is_a_duplicate() -> None:
    """Same day, same money, same thing; the first of them is right."""
    assert [charge.id for charge in duplicates(ACCOUNTS["ann"].charges)] == ["CH-103"]
    assert duplicates(ACCOUNTS["bob"].charges) == ()


def test_the_same_sum_on_another_day_is_none() -> None:
    """A subscription is charged every month."""
    charge = Charge(id="1", day="2026-10-01", usd=5.0, about="pro")
    other = Charge(id="2", day="2026-11-01", usd=5.0, about="pro")
    assert duplicates((charge, other)) == ()
