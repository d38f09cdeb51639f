"""Findings in words."""

from __future__ import annotations

import pytest

from nodes.market_research.findings import addresses_in, concerning, line, lines_of, records_in, sources_in


def test_a_line_says_a_fact_and_its_source() -> None:
    """And can be read again."""
    made = line("One\n two.", source="/pages/a.html")
    assert (made, lines_of(f"# Head\n{made}\n"), sources_in([made])) == (
        "- One two. (/pages/a.html)",
        (made,),
        ("/pages/a.html",),
    )


def test_a_long_line_is_cut() -> None:
    """The source stays."""
    assert line("word " * 200, source="x").endswith("… (x)")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Read /pages/a.html, then (https://pages.example/b).", ("/pages/a.html", "https://pages.example/b")),
        ("/a /a /b /c", ("/a", "/b")),
        ("1/2 and and/or, ../x", ()),
    ],
)
def test_addresses_are_found_in_a_task(text: str, found: tuple[str, ...]) -> None:
    """Each once, two at most here; what is no address is none."""
    assert addresses_in(text, most=2) == found


def test_what_concerns_a_question_is_told_in_the_order_of_the_text() -> None:
    """The title is no line; where nothing concerns it, the text begins."""
    text = "T\nBoxes fold.\nTea is hot.\nA box costs a euro."
    assert concerning("What does a box cost, folded?", title="T", text=text) == ("Boxes fold.", "A box costs a euro.")
    assert concerning("zebra", title="T", text=text) == ("Boxes fold.",)


@pytest.mark.parametrize(("text", "records"), [('{"a": 1}', [{"a": 1}]), ('[{"a": 1}, 2]', [{"a": 1}]), ("no", [])])
def test_what_a_tool_tells_is_read_where_it_is_json(text: str, records: list[dict[str, int]]) -> None:
    """One object or several."""
    assert records_in(text) == records
