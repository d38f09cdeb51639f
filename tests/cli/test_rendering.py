"""Values as people see them."""

from __future__ import annotations

import pytest

from stateward.cli.rendering import age, cell, columns_of, moment, money, plain


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), (True, "yes"), (False, ""), (0, "0"), ("a", "a"), (["a", "b"], "a; b"), ((), ""), ({}, ""),
        ({"a": [1]}, '{"a": [1]}'),
    ],
)  # fmt: skip
def test_a_cell_is_one_text(value, text):
    """Lists are joined, mappings are JSON."""
    assert cell(value) == text


@pytest.mark.parametrize(("seconds", "text"), [(-1, "0 s"), (59.9, "59 s"), (3725, "1 h 2 min"), (86_400, "1 d")])
def test_an_age_has_two_units(seconds, text):
    """The largest ones."""
    assert age(seconds) == text


@pytest.mark.parametrize(("usd", "text"), [(0, ""), (1.5, "1.50"), (0.000015, "0.000015"), (0.02, "0.02")])
def test_money_keeps_its_digits(usd, text):
    """Small amounts are not rounded to nothing."""
    assert money(usd) == text


def test_control_codes_become_blanks():
    """Text from outside cannot steer the terminal."""
    assert plain("a\x1b[2Jb\nc\u202e") == "a [2Jb\nc "


def test_columns_are_the_keys_in_order_of_appearance():
    """Rows may have different keys."""
    assert columns_of([{"a": 1}, {"b": 2, "a": 3}]) == ["a", "b"]


def test_a_moment_is_a_date_and_a_time():
    """Nobody reads seconds since the epoch."""
    assert moment(1_795_960_757.25) == "2026-11-29 13:59:17+00:00"
