"""Blocks in their place: what leads out of them is added, and what they are stays."""

from __future__ import annotations

import pytest

import stateward as sw
from stateward import teams
from stateward.errors import DefinitionError
from stateward.govern.policy import Policy


def test_a_block_is_placed_and_left_as_it_is() -> None:
    """The element that was given has no `to` afterwards either."""
    block = sw.State("A", on=sw.on("x", "B"))
    made = teams.placed(block, to="B", on=[sw.on("y", "C")], always=sw.when(bool, "D"))
    assert (made.to, len(made.on), len(made.on[1:])) == ("B", 2, 1)
    assert isinstance(made.always, tuple)
    assert (block.to, len(block.on)) == (None, 1)


def test_a_superstate_keeps_its_children() -> None:
    """Whatever it is made of is in the placed one."""
    block = sw.Superstate("S", sw.State("A", to="END"), sw.Final("END"))
    assert teams.placed(block, to="B").children == block.children


def test_a_block_that_leads_somewhere_is_not_placed_again() -> None:
    """One of the two would be lost."""
    with pytest.raises(DefinitionError, match="The block `A` has a `to` of its own"):
        teams.placed(sw.State("A", to="B"), to="C")


def test_a_block_with_a_policy_gets_no_other() -> None:
    """Policies only tighten: put it into a superstate that has the other one."""
    with pytest.raises(DefinitionError, match="has a `policy` of its own"):
        teams.placed(sw.State("A", policy=Policy(name="a")), policy=Policy(name="b"))
