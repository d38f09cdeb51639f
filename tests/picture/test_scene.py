"""What a picture shows."""

from __future__ import annotations

from stateward.chart.compiler import build
from stateward.chart.note import Note
from stateward.chart.state import Final, State
from stateward.chart.transition import on
from stateward.picture.scene import ASKED, Box, Scene, scene
from stateward.picture.trail import trail
from tests.chart.machines.shipping import shipping

CHART = shipping()


def box(drawn: Scene, path: str) -> Box:
    return next(box for box in drawn.boxes if box.path == path)


def said(drawn: Scene, source: str, target: str) -> list[str]:
    ends = box(drawn, source).number, box(drawn, target).number
    return [line.text for arrow in drawn.arrows if (arrow.source, arrow.target) == ends for line in arrow.lines]


def test_a_superstate_has_a_dot_where_it_begins() -> None:
    """A parallel state has none: all its regions begin."""
    drawn = scene(CHART)
    dots = {drawn.boxes[one.parent].path for one in drawn.boxes if one.kind == "initial"}
    assert dots == {"", "HANDLING.GOODS", "HANDLING.GOODS.PACK", "HANDLING.MONEY"}


def test_histories_show_their_depth() -> None:
    """And no arrow of their own where they lead where a plain entry does."""
    drawn = scene(CHART)
    histories = {one.path: one for one in drawn.boxes if one.kind == "history"}
    assert {path: one.title for path, one in histories.items()} == {
        "HANDLING.(history)": "H*",
        "HANDLING.GOODS.(history)": "H",
    }
    assert not {arrow.source for arrow in drawn.arrows} & {one.number for one in histories.values()}


def test_arrows_carry_events_guards_actions_and_timers() -> None:
    """In UML's words."""
    drawn = scene(CHART)
    assert said(drawn, "HANDLING", "SENT") == ["[is_express]"]
    assert said(drawn, "HANDLING.GOODS.PICK", "HANDLING.GOODS.PICK") == ["damaged / count"]
    assert said(drawn, "QUEUE", "SENT") == ["after 3600s"]


def test_what_leaves_nothing_stands_inside_the_box() -> None:
    """With entry and exit actions: an arrow would say that the state is left."""
    drawn = scene(CHART)
    assert [line.text for line in box(drawn, "HANDLING.MONEY.DUNNING").lines] == ["note / count"]
    assert [line.text for line in box(drawn, "QUEUE").lines] == ["exit / count"]


def test_a_transition_with_several_targets_parts_at_a_bar() -> None:
    """The bar lies where both the source and the targets are inside."""
    drawn = scene(CHART)
    (bar,) = (one for one in drawn.boxes if one.kind == "fork")
    ends = {drawn.boxes[arrow.target].path for arrow in drawn.arrows if arrow.source == bar.number}
    assert (bar.parent, ends) == (0, {"HANDLING.GOODS.PACK", "HANDLING.MONEY.DUNNING"})


def test_transitions_between_the_same_states_are_one_arrow() -> None:
    """Events that do the same share a line; a plain completion among them says that it is one."""
    chart = build("one", [State("A", to="B", on=[on("x", "B"), on("y", "B"), on("fuse", "B")]), Final("B")])
    drawn = scene(chart)
    assert said(drawn, "A", "B") == ["done", "x, y", "fuse"]


def test_notes_show_what_they_speak_of() -> None:
    """A flash for a fuse, a person for an ask, which the way out waits for."""
    chart = build("one", [State("A", do=len, to="B"), Final("B")])
    drawn = scene(chart, notes={"A": [Note("fuse usd 1", "fuse"), Note("asks before pay", "ask")]})
    assert [line.sign for line in box(drawn, "A").lines] == ["fuse", "ask"]
    assert said(drawn, "A", "B") == [ASKED]


def test_a_run_is_marked() -> None:
    """States it is in, states it came through, and what it took, line by line."""
    drawn = scene(CHART, trail=trail(CHART, highlight=["HANDLING.MONEY.CHARGE"], path=["NEW -> HANDLING"]))
    assert box(drawn, "HANDLING.MONEY.CHARGE").active
    assert (box(drawn, "NEW").visited, box(drawn, "HELD").visited) == (True, False)
    assert [line.text for arrow in drawn.arrows if arrow.taken for line in arrow.lines if line.taken] == ["order"]


def test_of_two_events_on_one_line_only_the_one_that_happened_is_marked() -> None:
    """It gets a line of its own."""
    chart = build("one", [State("A", on=[on("x", "B"), on("y", "B")]), Final("B")])
    drawn = scene(chart, trail=trail(chart, path=["A -> B on y"]))
    assert [(line.text, line.taken) for arrow in drawn.arrows for line in arrow.lines] == [("x", False), ("y", True)]
