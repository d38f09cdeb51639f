"""The pictures of the documentation: made from the charts' own tables, so that a stale one fails a test.

A Markdown file says where a picture goes by two comments around it:

    <!-- chart: support_desk -->
    <!-- /chart -->

Between them `python -m docs.draw` writes the link to an image in `docs/img`, and that image as well; with `--check` it
writes nothing and fails when a page or an image is stale.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stateward.govern.note import notes
from stateward.picture.picture import picture
from stateward.run.graph import ChartGraph

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "img"
CHARTS = (
    "support_desk",
    "working",
    "release",
    "image_brief",
    "governed_search",
    "react",
    "weather",
    "fintech_swarm",
    "blog",
    "billing",
    "hitl",
    "market_research",
)
"""The charts that are drawn: modules of `graphs`."""
STANDING = "working.standing"
"""A picture of `working` with a run in it: which states it came through, and where it is."""
RUN = ("WORKING.PLAN -> WORKING.ACT", "WORKING.ACT -> WORKING.REFLECT", "WORKING.REFLECT -> WORKING.PLAN")
PLACE = re.compile(r"(?<=<!-- chart: )([\w.]+) -->\n.*?(?=<!-- /chart -->)", re.DOTALL)


def pages() -> list[Path]:
    """Return the files that may hold pictures."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def drawings() -> Mapping[str, str]:
    """Draw the charts as `stateward draw` does.

    Returns:
        SVG by name.
    """
    drawn = {name: _svg(name) for name in CHARTS}
    return drawn | {STANDING: _svg("working", highlight=("WORKING.PLAN",), path=RUN)}


def _svg(name: str, *, highlight: Sequence[str] = (), path: Sequence[str] = ()) -> str:
    graph: ChartGraph = importlib.import_module(f"graphs.{name}").graph
    chart, effectives = graph.machine.chart, graph.machine.effectives
    return picture(chart, format="svg", notes=notes(chart, effectives), highlight=highlight, path=path)


def embedded(text: str, *, page: Path) -> str:
    """Put the images into a text.

    Args:
        text: A Markdown file.
        page: Where it lies.

    Returns:
        The text with an image between each pair of marks, whatever stood there.
    """
    folder = Path(os.path.relpath(IMAGES, page.parent)).as_posix()
    return PLACE.sub(lambda found: f"{found[1]} -->\n![The chart {found[1]}]({folder}/{found[1]}.svg)\n", text)


def wanted() -> Mapping[Path, str]:
    """Return every file this module writes, with what belongs into it."""
    images = {IMAGES / f"{name}.svg": svg for name, svg in drawings().items()}
    return images | {page: embedded(page.read_text(), page=page) for page in pages()}


def main(arguments: Sequence[str]) -> int:
    """Bring all images and pages up to date, or say which are stale.

    Args:
        arguments: `--check`, or nothing.

    Returns:
        The exit code: 1 when something is stale and nothing was to be written.
    """
    stale = {path: text for path, text in wanted().items() if not path.is_file() or path.read_text() != text}
    for path, text in stale.items():
        print(f"stale: {path.relative_to(ROOT)}")
        if "--check" not in arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
