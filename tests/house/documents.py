"""The Python blocks of Markdown files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.house.source import ROOT

README = ROOT / "README.md"
_BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    code: str
    line: int
    """Where its code begins, from 1."""


def blocks(path: Path) -> list[Block]:
    """Return the Python blocks of a document, in order."""
    text = path.read_text(encoding="utf-8")
    return [Block(code=found[1], line=text.count("\n", 0, found.start(1)) + 1) for found in _BLOCK.finditer(text)]


def with_blocks() -> list[Path]:
    """Return the documents that have Python blocks: the README and everything under `docs`."""
    return [path for path in (README, *sorted((ROOT / "docs").rglob("*.md"))) if blocks(path)]
