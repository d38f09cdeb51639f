"""Accuracy: counting agreements."""

from __future__ import annotations

from nodes.support_desk.accuracy import agreement, table


def test_agreements_and_confusions_are_counted() -> None:
    """The commonest confusion comes first."""
    counted = agreement("mood", pairs=[("a", "a"), ("a", "b"), ("a", "b"), ("b", "a")])
    assert (counted.right, counted.total, counted.share) == (1, 4, 0.25)
    assert counted.confusions == (("a", "b", 2), ("b", "a", 1))


def test_nothing_measured_is_no_agreement() -> None:
    """There is no division by zero."""
    assert agreement("mood", pairs=[]).share == 0.0


def test_the_table_has_a_line_for_each_field() -> None:
    """The columns are the parts."""
    text = table({"test": [agreement("mood", pairs=[("a", "a")])]})
    assert text == "| field | test |\n| --- | --- |\n| mood | 1.000 (1/1) |"
