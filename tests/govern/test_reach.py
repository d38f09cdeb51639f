"""What a run can reach, side by side."""

from __future__ import annotations

import pytest

from stateward.govern.reach import reach
from stateward.govern.total import Total


@pytest.mark.parametrize(
    ("before", "after", "compared"),
    [(3, 3, "same"), (3, 5, "more"), (5, 3, "less"), (None, 3, "less"), (3, None, "more"), (None, None, "same")],
)
def test_no_bound_is_more_than_any(before: float | None, after: float | None, compared: str) -> None:
    """And two of them are the same."""
    (found,) = reach([Total(unit="calls", most=before)], [Total(unit="calls", most=after)])
    assert found.compared == compared


def test_what_one_side_does_not_know_it_cannot_reach() -> None:
    """A tool that is forbidden now is at 0 calls."""
    found = reach([Total(unit="calls:pay", most=3)], [Total(unit="calls:look", most=None)])
    assert [(each.unit, each.before.most, each.after.most) for each in found] == [
        ("calls:pay", 3, 0), ("calls:look", 0, None),
    ]  # fmt: skip
