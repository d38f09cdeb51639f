"""Places: nothing lies where it should not."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings

from stateward.chart.definition import Definition
from stateward.picture.layout import Layout, Placed, Text, layout
from stateward.picture.scene import scene
from stateward.picture.size import closed, text
from tests.chart.machines.choice import choice
from tests.chart.machines.nested import nested
from tests.chart.machines.regions import regions
from tests.chart.machines.shipping import shipping
from tests.chart.machines.working import working
from tests.chart.random_charts import Sketch, sketches
from tests.chart.sketched import chart as drawn_from

CHARTS = [choice, nested, regions, shipping, working]
Area = tuple[float, float, float, float]


def area(part: Placed | Text) -> Area:
    width, height = (part.width, part.height) if isinstance(part, Placed) else text(part.lines)
    return part.x, part.y, part.x + width, part.y + height


def overlap(one: Area, other: Area) -> bool:
    return one[0] < other[2] - 1 and other[0] < one[2] - 1 and one[1] < other[3] - 1 and other[1] < one[3] - 1


def inside(one: Area, other: Area) -> bool:
    return other[0] <= one[0] and other[1] <= one[1] and one[2] <= other[2] + 1 and one[3] <= other[3] + 1


@pytest.fixture(params=CHARTS, ids=lambda make: make.__name__)
def chart(request: pytest.FixtureRequest) -> Definition:
    return request.param()


@pytest.fixture
def drawn(chart: Definition) -> Layout:
    return layout(scene(chart))


def test_every_box_lies_in_the_one_around_it(drawn: Layout) -> None:
    """Whole, and at least as large as what is written in it."""
    areas = {placed.box.number: area(placed) for placed in drawn.boxes}
    assert all(inside(areas[p.box.number], areas[p.box.parent]) for p in drawn.boxes if p.box.parent >= 0)
    assert all(p.width >= closed(p.box)[0] and p.height >= closed(p.box)[1] for p in drawn.boxes if not p.inside)


def test_boxes_side_by_side_do_not_overlap(drawn: Layout) -> None:
    """Nor do texts: neither each other, nor a box."""
    pairs = [(a, b) for a, b in combinations(drawn.boxes, 2) if a.box.parent == b.box.parent]
    assert not [(a.box.path, b.box.path) for a, b in pairs if overlap(area(a), area(b))]
    assert not [(a.lines, b.lines) for a, b in combinations(drawn.texts, 2) if overlap(area(a), area(b))]
    closed_boxes = [placed for placed in drawn.boxes if not placed.inside]
    assert not [(a.lines, b.box.path) for a in drawn.texts for b in closed_boxes if overlap(area(a), area(b))]


def test_every_arrow_reaches_a_border(drawn: Layout) -> None:
    """Its tip touches a box."""
    tips = [stroke.tip for stroke in drawn.strokes if stroke.tip is not None]
    assert len(tips) >= len({placed.box.number for placed in drawn.boxes if placed.box.kind == "final"})
    assert [tip for tip in tips if not any(touches(tip, area(placed)) for placed in drawn.boxes)] == []


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sketches())
def test_random_charts_have_everything_in_its_place(sketch: Sketch) -> None:
    """Whatever is nested in whatever, and wherever arrows lead."""
    drawn = layout(scene(drawn_from(sketch)))
    test_every_box_lies_in_the_one_around_it(drawn)
    test_boxes_side_by_side_do_not_overlap(drawn)
    test_every_arrow_reaches_a_border(drawn)


def touches(tip: tuple[float, float], box: Area) -> bool:
    x, y = tip
    within = box[0] - 2 <= x <= box[2] + 2 and box[1] - 2 <= y <= box[3] + 2
    deep = box[0] + 6 < x < box[2] - 6 and box[1] + 6 < y < box[3] - 6
    return within and not deep


def test_regions_stand_side_by_side_and_are_equally_high() -> None:
    """With a dashed line between them and one below the parallel state's name."""
    drawn = layout(scene(shipping()))
    goods, money = (p for p in drawn.boxes if p.box.path in ("HANDLING.GOODS", "HANDLING.MONEY"))
    assert (goods.frame, goods.y, goods.height) == ("column", money.y, money.height)
    assert len(drawn.rules) == 2


def test_a_picture_is_the_same_every_time() -> None:
    """To the last digit."""
    assert layout(scene(shipping())) == layout(scene(shipping()))
