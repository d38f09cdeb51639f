"""What stays of a line of checkpoints, and where the writes of the rest go."""

from __future__ import annotations

from stateward.run.store.lineage import Node, thinned


def node(name: str, parent: str | None, *, held: str = "", missing: str = "m") -> Node:
    return Node(id=name, parent=parent, held=frozenset(held), missing=frozenset(missing))


LINE = [node("a", None, missing=""), node("b", "a"), node("c", "b"), node("d", "c"), node("e", "d")]


def test_the_writes_of_a_stretch_move_to_the_first_checkpoint() -> None:
    """It stays, because nothing before the newest holds the value in full."""
    found = thinned(LINE, wanted=["e"])
    assert (found.kept, found.parents, found.stretches) == ({"a", "e"}, {"e": "a"}, {"a": ("b", "c", "d")})


def test_the_nearest_full_copy_is_where_the_line_begins() -> None:
    """What is before it goes, and with it the parent."""
    line = [*LINE[:2], node("c", "b", held="m", missing=""), *LINE[3:]]
    found = thinned(line, wanted=["e"])
    assert (found.kept, found.parents, found.stretches) == ({"c", "e"}, {"c": None, "e": "c"}, {"c": ("d",)})


def test_each_channel_has_a_full_copy_of_its_own() -> None:
    """Both are kept, and every stretch moves to what is before it."""
    line = [
        node("a", None, held="n"),
        node("b", "a"),
        node("c", "b", held="m"),
        node("d", "c"),
        node("e", "d", missing="mn"),
    ]
    found = thinned(line, wanted=["e"])
    assert (found.kept, found.stretches) == ({"a", "c", "e"}, {"a": ("b",), "c": ("d",)})


def test_nothing_moves_where_the_newest_holds_all() -> None:
    """It stands alone."""
    found = thinned([*LINE[:4], node("e", "d", held="m", missing="")], wanted=["e"])
    assert (found.kept, found.parents, found.stretches) == ({"e"}, {"e": None}, {})


def test_where_two_lines_part_both_begin_anew() -> None:
    """The checkpoint they part from and the first of each stay: its writes are those of one of them."""
    line = [*LINE, node("x", "b"), node("y", "x"), node("z", "y")]
    found = thinned(line, wanted=["e", "z"])
    assert found.kept == {"a", "b", "c", "x", "e", "z"}
    assert found.stretches == {"c": ("d",), "x": ("y",)}


def test_a_line_that_runs_in_a_circle_ends() -> None:
    """A damaged database does not hang."""
    assert thinned([node("a", "b"), node("b", "a")], wanted=["a", "gone"]).kept >= {"a"}
