"""SIGKILL at every boundary of a run, then a new process: nothing done is done again, nothing open is called done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crash.case import Case, killed, repeated

pytestmark = pytest.mark.slow
TWICE = (
    ("pay:after#1", "pay:after#1"),
    ("mail:after#1", "journal.settle:before#1"),
    ("post:after#1", "asks.create:after#1"),
    ("post:after#1", "asks.answer:after#1"),
    ("saver.put:before#6", "saver.put:before#1"),
    ("asks.answer:after#1", "refund:after#1"),
)
"""A second kill, at a point of the process that took over from the first."""


@pytest.fixture(scope="module", params=["sync", "async"])
def cases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Case]]:
    """Kill at every point a whole run passes, and at some pairs of points."""
    yield from killed(tmp_path_factory.mktemp("crash"), chart="toy", how=request.param, also=TWICE)


def test_every_killed_run_reaches_its_end(cases: list[Case]) -> None:
    """Whatever was cut off, the next process brings the case to DONE."""
    assert len(cases) > 60
    assert {
        case.at for case in cases if (case.end.outcome.status, case.end.outcome.path) != ("completed", "DONE")
    } == set()


def test_completed_effect_never_happens_twice(cases: list[Case]) -> None:
    """What the journal calls completed at the kill has happened as often at the end."""
    assert repeated(cases) == []


def test_once_effect_never_happens_twice(cases: list[Case]) -> None:
    """Neither with a look-up nor without one."""
    assert [(c.at, t) for c in cases for t in ("mail", "post") if len(c.end.effects[t]) > 1] == []


def test_repeated_effect_has_the_same_key(cases: list[Case]) -> None:
    """What is safe to repeat is repeated at most once a kill, under its idempotency key."""
    wrong = [
        (c.at, t) for c in cases for t, keys in c.end.effects.items() if len(set(keys)) > 1 or len(keys) > 1 + len(c.at)
    ]
    assert wrong == []


def test_every_effect_but_the_unknown_ones_has_happened(cases: list[Case]) -> None:
    """Nothing is lost: only a `once` call nobody could look up, which a person left alone, may be missing."""
    missing = {(c.at, t) for c in cases for t, keys in c.end.effects.items() if not keys}
    assert missing <= {(("journal.begin:after#5",), "post"), (("post:before#1",), "post")}


def test_unfinished_run_is_never_called_finished(cases: list[Case]) -> None:
    """At the moment of the kill, a terminal record stands exactly where the last checkpoint says completed."""
    assert [c.at for c in cases if c.left.ended != (c.left.outcome.status == "completed")] == []


def test_log_tells_each_state_once(cases: list[Case]) -> None:
    """No step is committed twice and none is skipped."""
    done = ["in", "look ok", "pay ok", "mail ok", "refund ok"]
    ends = {tuple(case.end.outcome.values["log"]) for case in cases}
    assert ends <= {(*done, f"post {word}", "closed") for word in ("ok", "unknown")}


def test_ledger_counts_each_call_once(cases: list[Case]) -> None:
    """Repeating a call costs nothing more: five calls of one try or two, none left open."""
    assert {len(case.end.journal) for case in cases} == {5}
    assert {e.status for c in cases for e in c.end.journal} <= {"completed", "unknown"}
