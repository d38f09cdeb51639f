"""Widths of texts."""

from __future__ import annotations

from stateward.picture.metrics import width


def test_widths_are_those_of_helvetica() -> None:
    """A thousandth of the size for each unit of the font's table."""
    assert width("WORKING", size=1000) == 944 + 778 + 722 + 667 + 278 + 722 + 778


def test_letters_with_accents_are_as_wide_as_without() -> None:
    """Marks take no room."""
    assert width("é", size=10) == width("e", size=10)
    assert width("e\u0301", size=10) == width("e", size=10)


def test_letters_of_other_scripts_have_a_width() -> None:
    """A Chinese letter is as wide as it is high; unknown ones are rather wide."""
    assert width("状", size=10) == 10
    assert width("ж", size=10) == 6
