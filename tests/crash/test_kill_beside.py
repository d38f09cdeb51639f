"""SIGKILL at every boundary of regions that run beside each other: each goes on where it was, none twice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crash.case import Case, killed, repeated

pytestmark = pytest.mark.slow
TWICE = (
    ("pay:after#1", "saver.put:before#1"),
    ("mail:before#1", "saver.put:after#2"),
    ("saver.put:before#4", "saver.put:before#2"),
)
DONE = ["closed", "in", "look ok", "mail ok", "pay ok", "refund ok"]


@pytest.fixture(scope="module", params=["sync", "async"])
def cases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Case]]:
    """Kill at every point a whole run passes, and at some pairs of points."""
    yield from killed(tmp_path_factory.mktemp("beside"), chart="beside", how=request.param, also=TWICE)


def test_every_killed_run_reaches_its_end(cases: list[Case]) -> None:
    """Whatever was cut off, the next process brings all regions to their ends."""
    assert len(cases) > 50
    assert {c.at for c in cases if (c.end.outcome.status, c.end.outcome.path) != ("completed", "DONE")} == set()


def test_completed_effect_never_happens_twice(cases: list[Case]) -> None:
    """A region that is entered again gets its calls from the journal."""
    assert repeated(cases) == []


def test_effect_that_may_happen_once_does(cases: list[Case]) -> None:
    """And what is safe to repeat keeps its idempotency key."""
    assert [(c.at, t) for c in cases for t in ("mail", "post") if len(c.end.effects[t]) > 1] == []
    assert [(c.at, t) for c in cases for t, keys in c.end.effects.items() if len(set(keys)) > 1] == []


def test_each_region_tells_each_state_once(cases: list[Case]) -> None:
    """A region that had ended is not entered again, one that had not is not skipped."""
    ends = {tuple(sorted(case.end.outcome.values["log"])) for case in cases}
    assert ends <= {tuple(sorted([*DONE, f"post {word}"])) for word in ("ok", "unknown")}


def test_unfinished_run_is_never_called_finished(cases: list[Case]) -> None:
    """Although one of its regions may be."""
    assert [c.at for c in cases if c.left.ended != (c.left.outcome.status == "completed")] == []
