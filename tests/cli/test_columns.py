"""How tables share the width of the screen."""

from __future__ import annotations

import pytest

from stateward.cli.columns import broken, widths

NAMES = ["state", "DESK.RESEARCHER.DECIDE"]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("DESK.RESEARCHER.DECIDE", 16, ["DESK.RESEARCHER.", "DECIDE"]),
        ("is_active_WRITER no", 12, ["is_active_", "WRITER no"]),
        ("-> DESK.END; DESK -> DONE", 13, ["-> DESK.END;", "DESK -> DONE"]),
        ("case, escalation, facts", 12, ["case,", "escalation,", "facts"]),
        ("0123456789abcdef", 10, ["0123456789", "abcdef"]),
        ("one\ntwo three", 5, ["one", "two", "three"]),
        ("0123456789abcdef; b", 10, ["0123456789", "abcdef; b"]),
        ("ab; 0123456789abcdef", 10, ["ab;", "0123456789", "abcdef"]),
        ("fits", 4, ["fits"]),
    ],
)
def test_a_text_is_broken_at_its_seams(text: str, width: int, lines: list[str]) -> None:
    """Between words, else behind the dots and dashes of names."""
    assert broken(text, width=width).splitlines() == lines


def test_what_fits_is_as_wide_as_its_text() -> None:
    """The table is no wider than it has to be."""
    assert widths([["id", "a"], NAMES], width=100) == [2, 22]


def test_a_name_is_kept_whole_before_a_sentence_is() -> None:
    """Sentences have more places to be broken at."""
    assert widths([NAMES, ["why", "a word or two about what came of it"]], width=50) == [22, 21]


def test_the_columns_fill_the_width_and_no_more() -> None:
    """Borders are counted."""
    given = widths([NAMES, NAMES, ["n", "1"]], width=40)
    assert given is not None
    assert sum(given) + 3 * 3 + 1 == 40


def test_where_not_even_pieces_fit_nothing_is_shared() -> None:
    """Then the table is folded as it comes."""
    assert widths([NAMES, NAMES], width=20) is None


def test_the_items_of_a_list_begin_where_they_can_be_seen() -> None:
    """One that does not fit behind the one before has a line of its own."""
    arrows = broken("A.B -> A.C; A.LONG -> A.D", width=14)
    assert arrows.splitlines() == ["A.B -> A.C;", "A.LONG -> A.D"]


def test_the_column_that_names_the_row_is_kept_whole_first() -> None:
    """An id is copied from there."""
    assert widths([["id", "session_3b9b7e82fd2c"], NAMES, NAMES], width=60) == [20, 15, 15]
