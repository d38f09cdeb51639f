"""The pictures in the documentation are those of the code."""

from __future__ import annotations

import pytest

from docs.draw import PLACE, ROOT, drawings, drawn, main, pages


def test_no_picture_is_stale() -> None:
    """Every drawing in README and docs is what `python -m docs.draw` would write."""
    assert main(["--check"]) == 0


def test_the_readme_shows_the_support_desk() -> None:
    """A reader sees the chart without running anything."""
    assert 'state "TRIAGE" as WORKING__TRIAGE' in (ROOT / "README.md").read_text()


def test_a_changed_chart_makes_its_page_stale() -> None:
    """What stands between the marks is replaced, whatever it was; the rest of the page stays."""
    page = "before\n<!-- chart: one -->\n```mermaid\nold\n```\n<!-- /chart -->\nafter\n"
    assert drawn(page, pictures={"one": "new\n"}) == page.replace("old", "new")


@pytest.mark.parametrize("name", ["support_desk", "working"])
def test_a_drawing_shows_nesting_and_policy(name: str) -> None:
    """States inside states, and the fuses that hang on them."""
    (picture,) = drawings([name]).values()
    assert 'state "WORKING" as WORKING {' in picture
    assert "fuse turns 12" in picture


def test_every_mark_names_a_chart() -> None:
    """A page cannot ask for a chart that nobody draws."""
    assert {found[1] for page in pages() for found in PLACE.finditer(page.read_text())} <= set(drawings())
