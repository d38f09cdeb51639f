"""The notice board."""

from __future__ import annotations

from nodes.hitl.board import Board
from stateward.effects import Completed, SafeToRetry


def test_a_post_of_one_key_is_published_once() -> None:
    """As a call is that is made again after a crash."""
    board = Board()
    assert board.post("a", channel="wall", key="k") == board.post("b", channel="wall", key="k") == "wall: a"
    assert board.posts == ["wall: a"]


def test_the_board_knows_what_became_of_a_call() -> None:
    """So that nobody has to be asked."""
    board = Board()
    assert board.look("k") == SafeToRetry()
    board.post("a", channel="wall", key="k")
    assert board.look("k") == Completed("wall: a")
