"""Rates: how long a call has to wait, and in which scopes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.govern.effective import effective
from stateward.govern.kinds.pace import Pace
from stateward.govern.layer import Limit
from stateward.govern.policy import Policy
from stateward.govern.rate import WINDOW_S, Beginning, paces, pause
from stateward.govern.scope import is_within


def a_rate(value: int, scope: str = "") -> Limit:
    return Limit(unit="calls_per_minute", value=value, scope=scope, origin="here")


def begun(*times: float, path: str = "A") -> list[Beginning]:
    return [Beginning(kind="tool", path=path, at=at) for at in times]


def waits(rate: Limit, made: list[Beginning], *, now: float) -> float:
    found = pause([rate], kind="tool", begun=made, now=now)
    return found.seconds if found else 0.0


def test_a_call_waits_until_the_oldest_leaves_the_window() -> None:
    """Two calls a minute: the third may begin 60 seconds after the first."""
    assert waits(a_rate(2), begun(0.0, 10.0), now=15.0) == 45.0


def test_a_call_after_the_window_does_not_wait() -> None:
    """What was begun exactly 60 seconds ago is in the window no more."""
    assert waits(a_rate(2), begun(0.0, 10.0), now=60.0) == 0.0


def test_calls_of_the_other_kind_do_not_count() -> None:
    """Model calls have a rate of their own."""
    assert pause([a_rate(1)], kind="model", begun=begun(0.0), now=1.0) is None


@pytest.mark.parametrize(("path", "counts"), [("W", True), ("W.A", True), ("W/agent", True), ("WX", False)])
def test_a_rate_counts_in_its_scope(path: str, counts: bool) -> None:
    """A state of the scope counts, and a nested agent of it; one that is only called alike does not."""
    assert (waits(a_rate(1, "W"), begun(0.0, path=path), now=1.0) > 0) is counts
    assert is_within("W", path) is counts


def test_the_longest_pause_counts() -> None:
    """Of several rates each has to let the call pass."""
    found = pause([a_rate(1), a_rate(1, "A")], kind="tool", begun=begun(5.0, 0.0), now=6.0)
    assert found is not None
    assert found.seconds == 59.0


def test_a_pause_says_which_rate_and_when() -> None:
    """People read which policy it is, and when the next call is possible."""
    found = pause([a_rate(1)], kind="tool", begun=begun(0.0), now=18.0)
    assert found is not None
    assert found.told() == "`pace.calls_per_minute` in `(chart)` is 1, and the next call is possible in 42 s"


def test_each_layer_keeps_its_own_pace() -> None:
    """A tighter pace further in does not take the place of the one further out, which counts more calls."""
    chain = [("", Policy(name="o", pace=Pace(parallel=4))), ("W", Policy(name="i", pace=Pace(parallel=2)))]
    assert [(limit.scope, limit.value) for limit in paces(effective(chain, path="W.A"), part="parallel")] == [
        ("", 4),
        ("W", 2),
    ]


def test_a_pace_that_only_observes_is_not_in_force() -> None:
    """It counts in the trial."""
    found = effective([("", Policy(name="o", pace=Pace(parallel=1), observe=True))], path="A")
    assert paces(found, part="parallel") == ()
    assert found.trial is not None
    assert [limit.value for limit in paces(found.trial, part="parallel")] == [1]


@given(st.lists(st.floats(0, 300), max_size=40), st.integers(1, 5))
def test_no_window_ever_holds_more_than_the_rate(wishes: list[float], most: int) -> None:
    """Calls that wait as long as they are told never come too densely, whenever they are wished for."""
    now, made = 0.0, list[Beginning]()
    for wish in sorted(wishes):
        now = max(now, wish)
        now += waits(a_rate(most), made, now=now)
        made += begun(now)
    times = [one.at for one in made]
    assert all(late - early > WINDOW_S - 1e-9 for early, late in zip(times, times[most:], strict=False))
