"""A section folds part by part, and says of itself what a file would say."""

from __future__ import annotations

import pytest

from stateward.errors import DefinitionError
from stateward.govern.kinds.pace import Pace
from stateward.govern.kinds.redaction import Redaction
from stateward.govern.kinds.section import tightest
from stateward.govern.kinds.window import Window


def test_each_part_is_folded_by_its_own_operator() -> None:
    """Numbers become the smallest; what one policy leaves open the other sets."""
    folded = Pace(parallel=4, calls_per_minute=60).tighten(Pace(parallel=2, turns_per_minute=5))
    assert folded == Pace(parallel=2, calls_per_minute=60, turns_per_minute=5)


def test_lists_of_what_is_redacted_are_united() -> None:
    """An inner policy adds a class and can take none away."""
    assert Redaction(log=("secret",)).tighten(Redaction(log=("personal",))).log == ("personal", "secret")


def test_a_section_says_what_is_set() -> None:
    """As plain data, as a file would have it."""
    assert Redaction(log=("secret",)).content == {"log": ["secret"]}


def test_policies_without_the_section_leave_it_open() -> None:
    """None of them sets it, so nothing holds."""
    assert tightest([None, None]) is None
    assert tightest([None, Pace(parallel=2), None]) == Pace(parallel=2)


def test_a_section_in_code_is_held_to_the_shape_of_a_file() -> None:
    """What a file could not say is refused with the same words."""
    with pytest.raises(DefinitionError, match="`parallel` is 0"):
        Pace(parallel=0)


def test_a_window_needs_both_numbers_of_messages() -> None:
    """One without the other says nothing."""
    with pytest.raises(DefinitionError, match="both `max_messages` and `keep_last`"):
        Window(max_messages=8)
