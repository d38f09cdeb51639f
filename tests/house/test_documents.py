"""What the documents show works: every Python block runs."""

from __future__ import annotations

import doctest
import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.house.documents import README, blocks, with_blocks
from tests.house.source import ROOT, modules

MOST_LINES = 30


@pytest.mark.parametrize("path", with_blocks(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_python_blocks_of_a_document_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From top to bottom in one namespace, in an empty working directory."""
    monkeypatch.chdir(tmp_path)
    script = ModuleType("__main__")  # as if the document were run: a tool's own process finds its function there
    script.__file__ = str(path)
    monkeypatch.setitem(sys.modules, "__main__", script)
    for block in blocks(path):
        code = "\n" * (block.line - 1) + block.code  # so that a traceback names the document's line
        exec(compile(code, path, "exec", dont_inherit=True), vars(script))


def test_the_quick_start_is_short() -> None:
    """The README shows a whole program in at most 30 lines."""
    assert blocks(README), "the README has no Python block"
    assert blocks(README)[0].code.count("\n") <= MOST_LINES


def test_the_examples_in_docstrings_run() -> None:
    """What follows `>>>` prints what stands below it."""
    shown = [module.name for module in modules("stateward", "nodes", "graphs") if ">>> " in module.text]
    assert [name for name in shown if doctest.testmod(importlib.import_module(name)).failed] == []


def test_every_design_note_is_in_the_index() -> None:
    """`docs/design/README.md` links each note beside it."""
    folder = ROOT / "docs" / "design"
    index = (folder / "README.md").read_text()
    assert [
        note.name for note in folder.glob("*.md") if note.name != "README.md" and f"({note.name})" not in index
    ] == []
