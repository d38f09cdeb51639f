"""The layout of one level."""

from __future__ import annotations

import pytest

from stateward.errors import DefinitionError
from stateward.picture import engine
from stateward.picture.engine import Edge, Vertex, arrange

A = Vertex(name="a", width=60, height=30)
B = Vertex(name="b", width=60, height=30)


def test_an_edge_leads_downward() -> None:
    """Its curve begins at the lower side of the upper vertex, and its tip touches the other."""
    level = arrange([A, B], [Edge(upper="a", lower="b", tip="lower")])
    (curve,) = level.curves
    assert curve is not None
    assert curve.points[0][1] == pytest.approx(level.middles["a"][1] + 15, abs=1)
    assert curve.tip == pytest.approx((30, level.middles["b"][1] - 15), abs=1)


def test_a_text_gets_room() -> None:
    """Its middle is told, and the level is wide enough."""
    level = arrange([A, B], [Edge(upper="a", lower="b", label=(200, 15))])
    (curve,) = level.curves
    assert curve is not None
    assert curve.label is not None
    assert level.width > 200


def test_ports_are_where_they_were_asked_for() -> None:
    """To a point."""
    wide = Vertex(name="w", width=200, height=80, bottom=((7, 150),))
    level = arrange([wide, B], [Edge(upper="w:p7:s", lower="b")])
    (curve,) = level.curves
    assert curve is not None
    assert curve.points[0] == pytest.approx((level.middles["w"][0] + 50, level.middles["w"][1] + 40), abs=1)


def test_hidden_edges_have_no_curve() -> None:
    """They only say what goes where."""
    level = arrange([A, B], [Edge(upper="a", lower="b", hidden=True), Edge(upper="a", lower="b")])
    assert [curve is None for curve in level.curves] == [True, False]


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mermaid needs nothing, and the message says so."""
    monkeypatch.setattr(engine, "PROGRAM", "graphviz-absent")
    with pytest.raises(DefinitionError, match=r"need the `draw` extra .*pip install 'stateward\[draw\]'"):
        arrange([A], [])


def test_a_failing_program_is_an_error() -> None:
    """With what it said."""
    with pytest.raises(DefinitionError, match=r"The layout program failed: .*syntax"):
        arrange([Vertex(name='"', width=1, height=1)], [])
