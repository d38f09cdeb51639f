"""The notebooks tell the truth: each runs from top to bottom and says again what is committed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from notebooks.execute import executed, notebooks

CELLS = 15

pytestmark = pytest.mark.filterwarnings("ignore")  # Jupyter's own


def shown(book: Any) -> list[tuple[str, list[Any]]]:
    """Return what each cell says and shows; what a kernel writes to stderr is its own affair."""
    return [
        (cell.source, [{key: out.get(key) for key in ("text", "data")} for out in visible(cell)]) for cell in book.cells
    ]


def visible(cell: Any) -> list[Any]:
    return [out for out in cell.get("outputs", ()) if out.get("name") != "stderr"]


@pytest.mark.slow
@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_runs_and_says_what_is_committed(path: Path) -> None:
    """Executed in a fresh kernel, every cell gives the output it was committed with."""
    assert shown(executed(path)) == shown(nbformat.read(path, as_version=4))


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_is_short_and_answers_one_question(path: Path) -> None:
    """It has less than fifteen cells, a question as its title, and an answer as its last output."""
    cells = nbformat.read(path, as_version=4).cells
    assert len(cells) < CELLS
    assert cells[0].source.splitlines()[0].endswith("?")
    assert cells[-1].outputs
