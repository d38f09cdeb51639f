"""Run every notebook from top to bottom in a fresh kernel and keep its outputs: `python -m notebooks.execute`."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).parent
TIMEOUT_S = 120
"""Seconds that one cell may take."""


def notebooks() -> list[Path]:
    """Return all notebooks."""
    return sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path) -> NotebookNode:
    """Run a notebook in the folder it lies in; the file stays as it is.

    Args:
        path: The notebook.

    Returns:
        The notebook with its new outputs, without times and the version of Python.

    Raises:
        CellExecutionError: A cell raised.
    """
    book = nbformat.read(path, as_version=4)
    client = NotebookClient(
        book,
        timeout=TIMEOUT_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        coalesce_streams=True,  # however the kernel cut what a cell printed
        record_timing=False,
    )
    client.execute()
    book.metadata["language_info"] = {"name": "python"}
    return book


if __name__ == "__main__":
    for each in notebooks():
        nbformat.write(executed(each), each)
        print(each.relative_to(FOLDER.parent))
