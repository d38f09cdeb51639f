"""Arrows that leave a box where others arrive would look as if they had two tips: they are moved a little aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from stateward.picture.engine import Curve, Point
from stateward.picture.route import Segment

NEAR = 6.0
ASIDE = 9.0
Extent = tuple[Point, Point]
"""The upper left and the lower right corner of a box."""


def parted(
    segments: Sequence[Segment], curves: Sequence[Curve | None], *, extents: Mapping[int, Extent]
) -> list[Curve | None]:
    """Move the beginnings of arrows away from the tips of others.

    Args:
        segments: The segments of a level.
        curves: Their curves, None for those without.
        extents: Where the boxes are that have straight sides.

    Returns:
        The curves, one for each segment.
    """
    tips: dict[int, list[Point]] = {}
    for segment, curve in zip(segments, curves, strict=True):
        if curve is not None and curve.tip is not None and segment.head.port is None:
            tips.setdefault(segment.head.box, []).append(curve.tip)
    moved: list[Curve | None] = []
    for segment, curve in zip(segments, curves, strict=True):
        extent = extents.get(segment.tail.box)
        if curve is not None and extent is not None and segment.tail.port is None and segment.tail != segment.head:
            curve = _aside(curve, segment=segment, tips=tips.get(segment.tail.box, ()), extent=extent)
        moved.append(curve)
    return moved


def _aside(curve: Curve, *, segment: Segment, tips: Sequence[Point], extent: Extent) -> Curve:
    points = curve.points if segment.forward else curve.points[::-1]
    (x, y), (far_x, far_y) = points[0], points[-1]
    if not any(abs(x - a) < NEAR and abs(y - b) < NEAR for a, b in tips):
        return curve
    (left, top), (right, bottom) = extent
    if min(abs(x - left), abs(x - right)) < min(abs(y - top), abs(y - bottom)):
        x_by, y_by = 0.0, _step(y, toward=far_y, low=top, high=bottom)
    else:
        x_by, y_by = _step(x, toward=far_x, low=left, high=right), 0.0
    shifted = (*((a + x_by, b + y_by) for a, b in points[:2]), *points[2:])
    return replace(curve, points=shifted if segment.forward else shifted[::-1])


def _step(at: float, *, toward: float, low: float, high: float) -> float:
    step = ASIDE if toward >= at else -ASIDE
    return step if low + NEAR < at + step < high - NEAR else -step
