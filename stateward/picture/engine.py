"""The layout of one level: a flat graph, given to Graphviz as text and read back with places.

The program comes with the wheel `graphviz-pure`: a port of Graphviz that needs nothing of the system and gives the same
numbers on every machine.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from stateward.errors import DefinitionError

PROGRAM = "graphviz-pure"
TIMEOUT_S = 120.0

Point = tuple[float, float]
"""Places are in points, y downward."""

Rank = Literal["", "source", "sink"]
"""Whether a vertex is kept in the first or the last row."""

Shape = Literal["box", "circle"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vertex:
    """Something with a size; ports are numbers with their distance from the left side."""

    name: str
    width: float
    height: float
    shape: Shape = "box"
    rank: Rank = ""
    top: tuple[tuple[int, int], ...] = ()
    bottom: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A line from a vertex to one that belongs below it."""

    upper: str
    lower: str
    """Name of a vertex; with `:port:s` a place on it."""
    tip: Literal["none", "upper", "lower"] = "none"
    label: Point | None = None
    """Width and height of its text."""
    weight: int = 1
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Where an edge runs: a chain of cubic curves from the upper end to the lower one, and its tip."""

    points: tuple[Point, ...]
    tip: Point | None
    label: Point | None
    """The middle of its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A flat graph with places."""

    width: float
    height: float
    middles: dict[str, Point]
    curves: tuple[Curve | None, ...]
    """One for each edge that is not hidden, in the order given."""


def arrange(vertices: Sequence[Vertex], edges: Sequence[Edge]) -> Level:
    """Give places to the vertices and ways to the edges of a level.

    Args:
        vertices: The vertices.
        edges: The edges.

    Returns:
        The places; the same for the same graph.

    Raises:
        DefinitionError: The `draw` extra is not installed, or its program failed.
    """
    return _read(_run(_text(vertices, edges)), count=len(edges))


def _run(text: str) -> dict[str, Any]:
    command = [str(_program()), "-Kdot", "-Tjson0"]
    try:
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or b""
        raise DefinitionError(
            f"The layout program failed: {said.decode(errors='replace').strip() or error}",
            where=command[0],
            fix="Draw with format `mermaid`, or report the chart.",
        ) from error
    return json.loads(done.stdout)


def _program() -> Path:
    try:
        held = [file for file in files(PROGRAM) or () if file.stem == PROGRAM and file.suffix in ("", ".exe")]
    except PackageNotFoundError:
        held = []
    if not held:
        raise DefinitionError(
            "SVG and PNG need the `draw` extra", where=PROGRAM, fix="`pip install 'stateward[draw]'`, or draw Mermaid."
        )
    return Path(str(held[0].locate()))


def _text(vertices: Sequence[Vertex], edges: Sequence[Edge]) -> str:
    rows = {rank: [v.name for v in vertices if v.rank == rank] for rank in ("source", "sink")}
    return "\n".join(
        (
            "digraph {",
            "graph [nodesep=0.36, ranksep=0.38, margin=0]",
            'node [label="", shape=box, fixedsize=true]',
            "edge [arrowsize=0.75]",
            *(_vertex(vertex) for vertex in vertices),
            *(f"{{rank={rank}; {'; '.join(names)}}}" for rank, names in rows.items() if names),
            *(_edge(edge, number=number) for number, edge in enumerate(edges)),
            "}",
        )
    )


def _vertex(vertex: Vertex) -> str:
    if vertex.top or vertex.bottom:
        return f"{vertex.name} [shape=plain, fixedsize=false, label=<{''.join(_table(vertex))}>]"
    size = f"width={vertex.width / 72:.4f}, height={vertex.height / 72:.4f}"
    return f"{vertex.name} [shape={vertex.shape}, {size}]"


def _table(vertex: Vertex) -> Iterator[str]:
    """Yield an HTML table as large as the vertex with a narrow cell for each port at its place."""
    places = sorted({x for _, x in (*vertex.top, *vertex.bottom)})
    cuts = sorted({0, round(vertex.width), *(place + side for place in places for side in (-1, 1))})
    columns = list(pairwise(cuts))
    yield '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">'
    yield _row(columns, {x: number for number, x in vertex.top})
    yield f'<TR><TD COLSPAN="{len(columns)}" FIXEDSIZE="TRUE" WIDTH="1" HEIGHT="{round(vertex.height) - 2}"></TD></TR>'
    yield _row(columns, {x: number for number, x in vertex.bottom})
    yield "</TABLE>"


def _row(columns: Sequence[tuple[int, int]], ports: dict[int, int]) -> str:
    cells = (
        f'<TD{_named(ports.get(left + 1, -1), right - left)} FIXEDSIZE="TRUE" WIDTH="{right - left}" HEIGHT="1"></TD>'
        for left, right in columns
    )
    return f"<TR>{''.join(cells)}</TR>"


def _named(port: int, width: int) -> str:
    return f' PORT="p{port}"' if port >= 0 and width == 2 else ""


def _edge(edge: Edge, *, number: int) -> str:
    direction = {"none": "none", "upper": "back", "lower": "forward"}[edge.tip]
    settings = [f"id={number}", f"dir={direction}", f"weight={edge.weight}"]
    if edge.hidden:
        settings.append("style=invis")
    if edge.label is not None:
        width, height = (round(side) for side in edge.label)
        cell = f'<TD FIXEDSIZE="TRUE" WIDTH="{width}" HEIGHT="{height}"></TD>'
        settings.append(f'label=<<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="0"><TR>{cell}</TR></TABLE>>')
    return f"{edge.upper} -> {edge.lower} [{', '.join(settings)}]"


def _read(found: dict[str, Any], *, count: int) -> Level:
    left, bottom, right, top = (float(number) for number in found["bb"].split(","))
    curves: list[Curve | None] = [None] * count
    for edge in found.get("edges", ()):
        if "pos" in edge and edge.get("style") != "invis":
            curves[int(edge["id"])] = _curve(edge, left=left, top=top)
    middles = {one["name"]: _point(one["pos"], left=left, top=top) for one in found.get("objects", ()) if "pos" in one}
    return Level(width=right - left, height=top - bottom, middles=middles, curves=tuple(curves))


def _curve(edge: dict[str, Any], *, left: float, top: float) -> Curve:
    words = edge["pos"].split()
    tips = [_point(word[2:], left=left, top=top) for word in words if word[0] in "se"]
    points = tuple(_point(word, left=left, top=top) for word in words if word[0] not in "se")
    label = _point(edge["lp"], left=left, top=top) if "lp" in edge else None
    return Curve(points=points, tip=tips[0] if tips else None, label=label)


def _point(text: str, *, left: float, top: float) -> Point:
    x, y = text.split(",")[:2]
    return float(x) - left, top - float(y)
