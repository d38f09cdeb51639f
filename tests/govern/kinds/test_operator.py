"""Tightening is a meet: monotone, associative and idempotent, whatever the part."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.govern.kinds.operator import ANY, COMMON, GREATEST, LEAST, SAME, UNITED, Operator, ranked

WORDS = ("weak", "firm", "strict")
NUMBERS = st.none() | st.integers(0, 9)
LISTS = st.none() | st.lists(st.sampled_from("abcd"), unique=True).map(tuple)
OPERATORS: list[tuple[Operator, st.SearchStrategy[Any]]] = [
    (LEAST, NUMBERS),
    (GREATEST, NUMBERS),
    (ANY, st.none() | st.booleans()),
    (COMMON, LISTS),
    (UNITED, LISTS),
    (SAME, st.none() | st.sampled_from(["", *WORDS])),
    (ranked(*WORDS), st.none() | st.sampled_from(WORDS)),
]
EACH = pytest.mark.parametrize(("operator", "values"), OPERATORS, ids=lambda one: getattr(one, "name", ""))


def held(value: object) -> object:
    """Forget the order of a list, which says nothing about how strict it is."""
    return frozenset(value) if isinstance(value, tuple) else value


@EACH
@given(data=st.data())
def test_no_grouping_of_overlays_changes_what_holds(
    operator: Operator, values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    """The meet is associative."""
    a, b, c = (data.draw(values) for _ in range(3))
    assert operator.meet(operator.meet(a, b), c) == operator.meet(a, operator.meet(b, c))


@EACH
@given(data=st.data())
def test_no_order_of_overlays_changes_what_holds(
    operator: Operator, values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    """The meet is commutative, but for the order of a list."""
    a, b = data.draw(values), data.draw(values)
    assert held(operator.meet(a, b)) == held(operator.meet(b, a))


@EACH
@given(data=st.data())
def test_the_same_value_twice_is_that_value(
    operator: Operator, values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    """The meet is idempotent."""
    a = data.draw(values)
    assert held(operator.meet(a, a)) == held(a)


@EACH
@given(data=st.data())
def test_what_holds_loosens_neither_value(
    operator: Operator, values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    """The meet of two values is at least as strict as each."""
    a, b = data.draw(values), data.draw(values)
    both = operator.meet(a, b)
    assert not operator.is_loosened(a, by=both)
    assert not operator.is_loosened(b, by=both)


@pytest.mark.parametrize(
    ("operator", "outer", "inner"),
    [
        (LEAST, 2, 3),
        (GREATEST, 3, 2),
        (ANY, True, False),
        (COMMON, ("a",), ("a", "b")),
        (UNITED, ("a", "b"), ("b",)),
        (ranked(*WORDS), "firm", "weak"),
    ],
)
def test_a_weaker_value_further_in_loosens(operator: Operator, outer: object, inner: object) -> None:
    """And the other way round it does not."""
    assert operator.is_loosened(outer, by=inner)
    assert not operator.is_loosened(inner, by=outer)
