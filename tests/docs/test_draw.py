"""The pictures in the documentation are those of the code."""

from __future__ import annotations

import pytest

from docs.draw import IMAGES, PLACE, ROOT, drawings, embedded, main, pages


def test_no_picture_is_stale() -> None:
    """Every page and every image is what `python -m docs.draw` would write."""
    assert main(["--check"]) == 0


def test_the_readme_shows_the_support_desk() -> None:
    """A reader sees the chart without running anything."""
    assert "](docs/img/support_desk.svg)" in (ROOT / "README.md").read_text()


def test_a_page_that_says_something_else_is_stale() -> None:
    """What stands between the marks is replaced, whatever it was; the rest of the page stays."""
    page = "before\n<!-- chart: one -->\n```mermaid\nold\n```\n<!-- /chart -->\nafter\n"
    image = "![The chart one](../img/one.svg)\n"
    assert embedded(page, page=ROOT / "docs" / "design" / "x.md") == page.replace("```mermaid\nold\n```\n", image)


def test_every_graph_has_a_picture() -> None:
    """A chart that is added to the examples is drawn as well."""
    assert {file.stem for file in (ROOT / "graphs").glob("[!_]*.py")} <= set(drawings())


@pytest.mark.parametrize("name", ["support_desk", "working"])
def test_a_drawing_shows_nesting_and_policy(name: str) -> None:
    """States inside states, and the fuses that hang on them."""
    picture = drawings()[name]
    assert "<title>WORKING." in picture
    assert "fuse turns 12" in picture


def test_every_mark_names_a_chart() -> None:
    """A page cannot ask for a chart that nobody draws."""
    assert {found[1] for page in pages() for found in PLACE.finditer(page.read_text())} <= set(drawings())


def test_every_image_is_one_of_them() -> None:
    """An image of a chart that is gone does not stay behind."""
    assert {image.stem for image in IMAGES.glob("*.svg")} == set(drawings())
