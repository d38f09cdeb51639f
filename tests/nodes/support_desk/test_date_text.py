"""Dates in running text."""

from __future__ import annotations

import pytest

from nodes.support_desk.date_text import dates_in

NOW = "2026-03-02T08:00:00Z"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-02-24", "2026-02-24"),
        ("am 24.02.2026", "2026-02-24"),
        ("24/02/2026", "2026-02-24"),
        ("on 2 February", "2026-02-02"),
        ("le 20 février", "2026-02-20"),
        ("el 3 de marzo de 2025", "2025-03-03"),
        ("12. März", "2026-03-12"),
        ("il 1 gennaio", "2026-01-01"),
        ("on 20 December", "2025-12-20"),
        ("gestern", "2026-03-01"),
    ],
)
def test_a_day_is_read_in_its_spellings(text: str, day: str) -> None:
    """A day without a year is the one nearest to the message."""
    assert dates_in(text, received_at=NOW) == (day,)


@pytest.mark.parametrize("text", ["31.02.2026", "99/99/2026", "2026-13-01", "29 February 2025", "hier", "morgen"])
def test_what_is_no_day_is_left_out(text: str) -> None:
    """Impossible days and words of two meanings give nothing."""
    assert dates_in(text, received_at=NOW) == ()


def test_without_a_time_only_whole_dates_are_read() -> None:
    """Nothing is guessed from the clock of the machine."""
    assert dates_in("yesterday, 2 February or 2026-02-24", received_at="") == ("2026-02-24",)
