"""The way of arrows through borders."""

from __future__ import annotations

from stateward.chart.compiler import build
from stateward.chart.state import Final, State, Superstate
from stateward.chart.transition import on
from stateward.picture.route import Routes, Segment, routes
from stateward.picture.scene import scene
from tests.chart.machines.working import working


def found(*states: State | Superstate | Final) -> Routes:
    return routes(scene(build("one", list(states))))


def crossing(ways: Routes) -> list[Segment]:
    return [segment for segment in ways.segments if segment.tail.port or segment.head.port]


def test_an_arrow_within_a_level_is_one_segment() -> None:
    """It has its tip and crosses nothing."""
    ways = found(State("A", on=on("x", "B")), Final("B"))
    assert [segment.tip for segment in ways.segments] == [True, True]
    assert (crossing(ways), ways.ports) == ([], ())


def test_an_arrow_from_inside_crosses_the_border_at_a_port() -> None:
    """The text is written outside, where both ends lie, and so is the tip."""
    inner, outer = crossing(found(Superstate("S", State("A", on=on("x", "B"))), Final("B")))
    assert (inner.level, inner.tip, inner.lines) == (1, False, ())
    assert (outer.level, outer.tip, [line.text for line in outer.lines]) == (0, True, ["x"])
    assert inner.head.port == outer.tail.port
    assert inner.head.port is not None
    assert inner.head.port.side == "bottom"


def test_an_arrow_that_leads_back_leaves_at_the_top() -> None:
    """So that nothing is drawn around a box."""
    ways = found(State("A", on=on("x", "S")), Superstate("S", State("B", on=on("back", "A"))))
    (port,) = ways.ports
    assert port.side == "top"
    assert [segment.forward for segment in crossing(ways)] == [False, False]


def test_arrows_that_say_the_same_share_a_port() -> None:
    """Two ends of work in one superstate leave it as one arrow."""
    both = found(Superstate("S", State("A", on=on("x", "C")), State("B", on=on("x", "C"))), Final("C"))
    apart = found(Superstate("S", State("A", on=on("x", "C")), State("B", on=on("y", "C"))), Final("C"))
    assert (len(both.ports), len(apart.ports)) == (1, 2)


def test_what_leads_from_a_superstate_into_itself_begins_at_its_border() -> None:
    """And what leads from inside to the superstate ends there."""
    ways = found(Superstate("S", State("A", on=on("up", "S")), on=on("down", "A")))
    ends = {(s.tail.box, s.head.box) for s in crossing(ways)}
    assert ends == {(1, 2), (2, 1)}
    assert {port.side for port in ways.ports} == {"top", "bottom"}


def test_histories_are_entered_like_states() -> None:
    """The arrow to a history leads into its superstate."""
    ways = routes(scene(working()))
    history = working().by_path["WORKING.(history)"]
    assert [segment.level for segment in ways.segments if segment.head.box == history] == [1]
