"""Text is read as somebody reads it, and every letter knows where it stood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.govern.disguise import View, is_broken, joined, readable, undisguised
from stateward.govern.pattern import compile_pattern


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("k\u200be\u00ady", "key"),
        ("\uff4b\uff45\uff59 \u0661", "key 1"),
        ("a%2Db", "a-b"),
        (r"\u006bey", "key"),
        ("\ufb01t", "fit"),
    ],
)
def test_what_hides_letters_is_undone(text: str, read: str) -> None:
    """Unseen letters, other widths and digits, escapes, ligatures."""
    view = undisguised(text)
    assert view is not None
    assert view.text == read


@pytest.mark.parametrize("text", ["plain", "Grüße, 100 % sure", ""])
def test_text_that_hides_nothing_has_no_other_view(text: str) -> None:
    """Most text is looked at once."""
    assert undisguised(text) is None


def test_place_in_a_view_is_a_place_in_the_text() -> None:
    """With all that was left out between the letters."""
    text = "x k\u200be\u200by y"
    view = undisguised(text)
    assert view is not None
    start, end = view.original(2, 5)
    assert text[start:end] == "k\u200be\u200by"


def test_line_breaks_are_left_out_with_the_spaces_around_them() -> None:
    """As they stand, and as JSON in a text has them."""
    assert joined("a \n  b\\nc").text == "abc"
    assert is_broken("ke\ny", hides=compile_pattern("key"))
    assert not is_broken("key", hides=compile_pattern("key"))


@given(st.text())
def test_view_has_a_place_for_every_letter(text: str) -> None:
    """Places are in order and within the text."""
    plain = readable(text)
    view = undisguised(plain) or View(text=plain)
    places = [view.original(number, number + 1) for number in range(len(view.text))]
    assert len(plain) == len(text)
    assert places == sorted(places)
    assert all(0 <= start < end <= len(text) for start, end in places)
