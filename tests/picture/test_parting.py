"""Arrows that begin where others end."""

from __future__ import annotations

from stateward.picture.engine import Curve
from stateward.picture.parting import ASIDE, parted
from stateward.picture.route import End, Segment

BOX = {1: ((0.0, 0.0), (100.0, 40.0))}
COMING = Segment(level=0, tail=End(box=2), head=End(box=1), forward=True, tip=True)
GOING = Segment(level=0, tail=End(box=1), head=End(box=3), forward=True, tip=True)
COMES = Curve(points=((300.0, 0.0), (250.0, 0.0), (150.0, 20.0), (108.0, 20.0)), tip=(100.0, 20.0), label=None)


def goes(x: float, y: float, *, to: tuple[float, float]) -> Curve:
    return Curve(points=((x, y), (x + 10, y), to, to), tip=to, label=None)


def moved(curve: Curve) -> Curve | None:
    return parted([COMING, GOING], [COMES, curve], extents=BOX)[1]


def test_a_beginning_beside_a_tip_is_moved_along_the_border() -> None:
    """Toward where its arrow goes."""
    curve = moved(goes(100, 20, to=(300, 400)))
    assert curve is not None
    assert curve.points[0] == (100, 20 + ASIDE)


def test_it_stays_on_its_box() -> None:
    """At a corner it is moved the other way."""
    coming = Curve(points=COMES.points, tip=(100.0, 36.0), label=None)
    _, curve = parted([COMING, GOING], [coming, goes(100, 36, to=(300, 400))], extents=BOX)
    assert curve is not None
    assert curve.points[0] == (100, 36 - ASIDE)


def test_others_stay_where_they_are() -> None:
    """Also where there is no curve at all."""
    curve = goes(50, 40, to=(50, 400))
    assert moved(curve) == curve
    assert parted([COMING], [None], extents=BOX) == [None]
