"""Parts of a value made in code are read, or refused in words that name the place."""

from __future__ import annotations

import pytest

from stateward.errors import DefinitionError
from stateward.govern.required import items_of, pairs_of, require_distinct, require_kind


def test_pairs_are_read_as_a_mapping() -> None:
    """What stands in a tuple so that it cannot change is a mapping in a file."""
    assert pairs_of((("a", "b"), ("c", "b")), key="aliases", by=1) == {"a": "b", "c": "b"}


@pytest.mark.parametrize("value", [{"a": "b"}, (("a",),), (("a", 1),), (("a", "b"), ("a", "c")), ("ab",)])
def test_what_is_no_mapping_of_texts_is_refused(value: object) -> None:
    """A mapping itself, halves of pairs, and two pairs for one name."""
    with pytest.raises(DefinitionError, match="`aliases"):
        pairs_of(value, key="aliases", by=1)


def test_the_place_of_a_wrong_item_is_named() -> None:
    """Places are written as in messages about files."""
    with pytest.raises(DefinitionError, match=r"`names\[1\]` is 2, expected a value of type str \(at 7\)"):
        items_of(("a", 2), kind=str, key="names", by=7)


def test_none_is_taken_where_it_may_stand() -> None:
    """Only an optional part may be missing."""
    require_kind(None, kind=int, key="k", by=1, optional=True)
    with pytest.raises(DefinitionError, match="expected a value of type int"):
        require_kind(None, kind=int, key="k", by=1)


def test_a_name_given_twice_is_refused() -> None:
    """A mapping would keep one of the two in silence."""
    require_distinct(["a", "b"], key="fields", by=1)
    with pytest.raises(DefinitionError, match="`fields` is 'a', expected every name once"):
        require_distinct(["a", "a"], key="fields", by=1)
