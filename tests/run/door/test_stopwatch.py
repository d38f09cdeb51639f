"""The stopwatch: what counts once, what counts in which scope, and what is taken when."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stateward.run.door.stopwatch import Stopwatch


def test_activities_at_the_same_time_count_once() -> None:
    """Two regions that work from 0 to 10 and from 4 to 12 have worked for 12 seconds."""
    watch = Stopwatch()
    watch.start("r", scopes=[""], now=0.0)
    watch.start("r", scopes=[""], now=4.0)
    watch.stop("r", scopes=[""], now=10.0)
    watch.stop("r", scopes=[""], now=12.0)
    assert watch.take("r", now=20.0) == {"": 12.0}


def test_time_between_activities_does_not_count() -> None:
    """While a run waits, for people for instance, nothing is measured."""
    watch = Stopwatch()
    for begun in (0.0, 100.0):
        watch.start("r", scopes=["", "W"], now=begun)
        watch.stop("r", scopes=["", "W"], now=begun + 3.0)
    assert watch.take("r", now=200.0) == {"": 6.0, "W": 6.0}


def test_what_was_taken_is_not_taken_again() -> None:
    """An activity under way is measured on from the moment it was looked at."""
    watch = Stopwatch()
    watch.start("r", scopes=[""], now=0.0)
    assert (watch.take("r", now=5.0), watch.take("r", now=5.0)) == ({"": 5.0}, {})
    assert watch.take("r", now=7.0) == {"": 2.0}


def test_runs_are_measured_apart() -> None:
    """A chart inside another one is a run of its own."""
    watch = Stopwatch()
    watch.start("r", scopes=[""], now=0.0)
    assert watch.take("other", now=5.0) == {}


def test_a_clock_that_goes_back_takes_nothing_away() -> None:
    """Time is never negative."""
    watch = Stopwatch()
    watch.start("r", scopes=[""], now=10.0)
    assert watch.take("r", now=3.0) == {}


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=8), st.lists(st.integers(0, 100)))
def test_all_that_is_taken_is_the_union(spans: list[tuple[int, int]], looks: list[int]) -> None:
    """However often it is looked at, the sum is the length of the union of the spans."""
    watch, taken = Stopwatch(), 0.0
    moves = [(a, 0, "start") for a, _ in spans] + [(a + length, 1, "stop") for a, length in spans]
    for now, _, what in sorted([*moves, *((look, 2, "look") for look in looks), (200, 3, "look")]):
        if what == "look":
            taken += watch.take("r", now=now).get("", 0.0)
        else:
            getattr(watch, what)("r", scopes=[""], now=float(now))
    assert taken == len({second for a, length in spans for second in range(a, a + length)})
