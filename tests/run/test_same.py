"""Whether two values of a state are the same."""

from __future__ import annotations

import pytest

from stateward.run.same import same


class Odd:
    """A value like an array: its comparison is no truth."""

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # as of arrays

    def __eq__(self, other: object) -> bool:
        raise ValueError("ambiguous")


@pytest.mark.parametrize(("before", "after", "expected"), [([1], [1], True), (1, True, False), (Odd(), Odd(), False)])
def test_values_are_the_same_when_type_and_comparison_say_so(before: object, after: object, expected: bool) -> None:
    """A comparison that raises counts as a difference."""
    assert same(before, after) is expected
