"""The pictures of the documentation: Mermaid made from the charts' own tables.

A Markdown file says where a picture goes by two comments around it:

    <!-- chart: support_desk -->
    <!-- /chart -->

`python -m docs.draw` writes what belongs between them; with `--check` it writes nothing and fails when one is stale.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from stateward.chart.draw import mermaid
from stateward.cli.draw import notes
from stateward.run.graph import ChartGraph

ROOT = Path(__file__).parents[1]
CHARTS = ("support_desk", "working")
"""The charts that may be drawn: modules of `graphs`."""
PLACE = re.compile(r"(?<=<!-- chart: )(\w+) -->\n.*?(?=<!-- /chart -->)", re.DOTALL)


def pages() -> list[Path]:
    """Return the files that may hold pictures."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def drawings(charts: Iterable[str] = CHARTS) -> Mapping[str, str]:
    """Draw charts as `stateward draw` does.

    Args:
        charts: Names of modules in `graphs`.

    Returns:
        Mermaid text by name.
    """
    graphs: dict[str, ChartGraph] = {name: importlib.import_module(f"graphs.{name}").graph for name in charts}
    return {name: mermaid(graph.machine.chart, notes=notes(graph.machine)) for name, graph in graphs.items()}


def drawn(text: str, *, pictures: Mapping[str, str]) -> str:
    """Put the pictures into a text.

    Args:
        text: A Markdown file.
        pictures: Mermaid text by name.

    Returns:
        The text with every picture as the code is now.
    """
    return PLACE.sub(lambda found: f"{found[1]} -->\n```mermaid\n{pictures[found[1]]}```\n", text)


def main(arguments: Sequence[str]) -> int:
    """Bring all pages up to date, or say which are stale.

    Args:
        arguments: `--check`, or nothing.

    Returns:
        The exit code: 1 when a page is stale and nothing was to be written.
    """
    pictures = drawings()
    stale = [page for page in pages() if drawn(page.read_text(), pictures=pictures) != page.read_text()]
    for page in stale:
        print(f"stale: {page.relative_to(ROOT)}")
        if "--check" not in arguments:
            page.write_text(drawn(page.read_text(), pictures=pictures))
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
