"""What the documentation names is there: tests, files and pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.draw import ROOT, pages

TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
FILE = re.compile(r"`((?:stateward|graphs|nodes|policies|configs|samples|tests|docs|notebooks)/[\w./]+\.\w+)`")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", pages(), ids=named)
def test_every_test_a_page_names_exists(page: Path) -> None:
    """A guarantee points at the test that proves it."""
    missing = [
        f"{file}::{name}"
        for file, name in TEST.findall(page.read_text())
        if not (ROOT / file).is_file() or f"def {name}(" not in (ROOT / file).read_text()
    ]
    assert missing == []


@pytest.mark.parametrize("page", pages(), ids=named)
def test_every_file_a_page_names_exists(page: Path) -> None:
    """Code paths and links of a page lead somewhere."""
    text = page.read_text()
    missing = [place for place in FILE.findall(text) if not (ROOT / place).exists()]
    missing += [place for place in LINK.findall(text) if not (page.parent / place).exists()]
    assert missing == []
