"""Sizes of boxes and texts."""

from __future__ import annotations

from stateward.picture.scene import Box, Line
from stateward.picture.size import CIRCLE, LEAST, SIGN, closed, heading, text


def box(title: str, *lines: Line) -> Box:
    return Box(number=1, kind="atomic", title=title, path=title, parent=0, lines=lines)


def test_a_box_is_as_large_as_its_text_needs() -> None:
    """And never smaller than is good to look at."""
    assert closed(box("A")) == LEAST
    long = box("A", Line(text="asks before charge_the_whole_amount"), Line(text="exit / leave"))
    assert closed(long)[0] > text(long.lines)[0]
    assert closed(long)[1] > heading(long)[1] > text(long.lines)[1]


def test_signs_and_bold_letters_take_room() -> None:
    """A taken line is set in bold."""
    plain = Line(text="order")
    assert text([Line(text="order", sign="fuse")])[0] == text([plain])[0] + SIGN
    assert text([Line(text="order", taken=True)])[0] > text([plain])[0]


def test_signs_of_statecharts_have_their_own_size() -> None:
    """Whatever is written in them."""
    assert closed(Box(number=1, kind="history", title="H*", path="S.(history)", parent=0)) == (CIRCLE, CIRCLE)
