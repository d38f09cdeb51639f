"""A picture of a chart in one call, in any of the formats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, cast, get_args, overload

from stateward.chart.definition import Definition
from stateward.chart.draw import mermaid
from stateward.chart.note import Notes
from stateward.errors import DefinitionError
from stateward.picture.layout import layout
from stateward.picture.png import png
from stateward.picture.scene import scene
from stateward.picture.svg import svg
from stateward.picture.trail import trail

Format = Literal["mermaid", "svg", "png"]
"""How a picture is written.

mermaid: text that GitHub and others draw; needs nothing.
svg: text, drawn here.
png: bytes, rendered from the SVG.
"""


@overload
def picture(
    chart: Definition,
    *,
    format: Literal["mermaid", "svg"] = "mermaid",
    notes: Notes | None = None,
    highlight: Iterable[str] = (),
    path: Iterable[str] = (),
) -> str: ...
@overload
def picture(
    chart: Definition,
    *,
    format: Literal["png"],
    notes: Notes | None = None,
    highlight: Iterable[str] = (),
    path: Iterable[str] = (),
) -> bytes: ...
@overload
def picture(
    chart: Definition,
    *,
    format: str,
    notes: Notes | None = None,
    highlight: Iterable[str] = (),
    path: Iterable[str] = (),
) -> str | bytes: ...
def picture(
    chart: Definition,
    *,
    format: str = "mermaid",
    notes: Notes | None = None,
    highlight: Iterable[str] = (),
    path: Iterable[str] = (),
) -> str | bytes:
    """Draw a chart.

    Args:
        chart: The chart.
        format: `mermaid`, `svg` or `png`.
        notes: What is written inside boxes besides: fuses, approvals.
        highlight: Paths of active states.
        path: What a run did, in order: transitions as a history writes them (`PLAN -> ACT`), or state paths.

    Returns:
        Text, or the bytes of a PNG file; the same for the same chart, on every machine.

    Raises:
        DefinitionError: The format is unknown, `highlight` or `path` names something that the chart does not have, or
            the `draw` extra is not installed, which SVG and PNG need.
    """
    chosen = _format(format)
    marks = trail(chart, highlight=highlight, path=path)
    if chosen == "mermaid":
        return mermaid(chart, notes=notes, active=marks.active, visited=marks.visited, taken=marks.taken)
    seen = scene(chart, notes=notes, trail=marks)
    text = svg(seen, layout(seen))
    return text if chosen == "svg" else png(text)


def _format(given: str) -> Format:
    if given not in get_args(Format):
        known = ", ".join(f"`{name}`" for name in get_args(Format))
        raise DefinitionError(f"`{given}` is no format of a drawing", where="format", fix=f"Formats: {known}.")
    return cast("Format", given)
