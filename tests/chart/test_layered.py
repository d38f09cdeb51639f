"""A mapping in two layers: what it holds is what a dictionary would hold."""

from __future__ import annotations

from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from stateward.chart.layered import MOST_RECENT, Layered, layered

keys = st.integers(0, 3 * MOST_RECENT)


@given(st.dictionaries(keys, st.integers()), st.lists(st.dictionaries(keys, st.integers(), max_size=9)))
def test_it_holds_what_a_dictionary_would(base: dict[int, int], changes: list[dict[int, int]]) -> None:
    """However often it is changed, and in which order."""
    changed, plain = layered(base), dict(base)
    for change in changes:
        changed, plain = changed.with_changes(change), plain | change
    assert changed == plain
    assert (len(changed), sorted(changed)) == (len(plain), sorted(plain))
    assert [changed.get(key, -1) for key in range(99)] == [plain.get(key, -1) for key in range(99)]
    assert [key in changed for key in range(99)] == [key in plain for key in range(99)]


@given(st.lists(st.lists(keys, max_size=9).map(tuple)))
def test_it_counts(groups: list[tuple[int, ...]]) -> None:
    """A key is counted as often as it was given."""
    counts = Layered[int]({})
    for group in groups:
        counts = counts.counted(group)
    every = [key for group in groups for key in group]
    assert counts == {key: every.count(key) for key in every}


def test_changes_leave_the_one_before_as_it_was() -> None:
    """Each is a value of its own, and so is what was put in."""
    given = {1: 1}
    before = layered(given)
    kept = deepcopy(before)
    assert before.counted((1, 2)) == {1: 2, 2: 1}
    assert before.with_changes({3: 3}) == {1: 1, 3: 3}
    assert before == kept == given == {1: 1}


def test_the_lower_layer_is_shared_until_many_keys_have_changed() -> None:
    """A change copies the few keys above, not the many below."""
    below = dict.fromkeys(range(1000), 1)
    few = layered(below).counted(tuple(range(MOST_RECENT - 1)))
    assert few._base is below  # pyright: ignore[reportPrivateUsage]
    assert few.counted((998, 999))._base is not below  # pyright: ignore[reportPrivateUsage]
