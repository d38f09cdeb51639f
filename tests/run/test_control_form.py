"""The control value in store: short, plain JSON, and whole again when it is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.run.channel import ControlChannel
from stateward.run.checkpoint import MAIN_BRANCH, Pins, merge, start_delta
from stateward.run.control_form import full, short

PINS = Pins(chart="0a" * 32, policy="1b" * 32, schema="2c" * 32, mode="strict")
EARLIER: dict[str, Any] = {
    **{"v": 1, "status": "running", "at": [], "last": {"event": "start"}, "branch": "main"},
    **dict.fromkeys(["history", "entries", "asks", "ended", "brought", "failed", "timers", "event", "reason"]),
    "run": {"id": "r", "no": 1, "mode": "strict", "hashes": PINS.to_json()},
}
"""What earlier releases wrote to open a run."""

names = st.sampled_from(["A", "B", "C", "AB"])
paths = st.one_of(st.just(""), st.lists(names, min_size=1, max_size=4).map(".".join))
events = st.sampled_from(["start", "go", "done.activity.A", "done.activity.", "done.activity.A.B"])
lasts = st.fixed_dictionaries({"event": events}, optional={"state": paths, "activation": st.integers(0, 3)})
changes = st.fixed_dictionaries(
    {"last": lasts},
    optional={
        "entries": st.dictionaries(paths, st.integers(1, 9), max_size=8),
        "asks": st.dictionaries(paths, st.lists(st.just("ask_1"))),
        "branch": st.sampled_from(["main", "main.1"]),
        "status": st.sampled_from(["waiting", "completed"]),
    },
)


def started(**change: Any) -> dict[str, Any]:
    return merge({}, start_delta(run="r", run_no=1, pins=PINS, branch=MAIN_BRANCH)) | change


@given(changes)
def test_what_is_stored_comes_back_whole(change: dict[str, Any]) -> None:
    """Whatever was entered, in whatever order, and whatever the last step was about."""
    control = started(**change)
    assert full(json.loads(json.dumps(short(control, branch=MAIN_BRANCH))), branch=MAIN_BRANCH) == control


@given(changes)
def test_what_an_earlier_release_stored_is_read_the_same(change: dict[str, Any]) -> None:
    """It named each hash, counted entries by path, and said every event and branch."""
    control = started(**change)
    assert ControlChannel().from_checkpoint(dict(control)).get() == control


def test_the_opening_of_an_earlier_release_opens_the_same_run() -> None:
    """A run whose input was stored by one goes on under the other."""
    left = started(at=["D"], entries={"D": 3}, mail=4, branch="b", last={"event": "e", "state": "D"})
    assert merge(left, EARLIER) == merge(left, start_delta(run="r", run_no=1, pins=PINS, branch=MAIN_BRANCH))


def test_a_stored_value_says_nothing_twice() -> None:
    """The parts of a path are written once, and each hash as its bytes are."""
    entries = {"": 1, "A": 1, "A.B": 2, "A.B.C": 1, "D": 1}
    stored = short(started(entries=entries, last={"state": "A.B", "event": "done.activity.A.B"}), branch=MAIN_BRANCH)
    assert (stored["entries"], stored["last"]) == (
        {"": 1, "A": {"": 1, "B": {"": 2, "C": 1}}, "D": 1},
        {"state": "A.B"},
    )
    assert len(stored["run"]["hashes"]) < len("".join(PINS.to_json().values()))
    assert not stored.keys() & {"branch", "event", "history"}


@pytest.mark.parametrize(
    "hashes", [{"chart": "c", "policy": "p", "schema": "s"}, {**PINS.to_json(), "more": ""}, {}, None, "lost"]
)
@pytest.mark.parametrize("upper", [False, True])
def test_what_are_no_three_hashes_is_kept_as_it_is(hashes: Any, upper: bool) -> None:
    """Nothing is lost in a form that would not give it back; its reader refuses it."""
    run = {"id": "r", "hashes": {**PINS.to_json(), "chart": "AB" * 32} if upper else hashes}
    control = started(run=run)
    assert full(short(control, branch=MAIN_BRANCH), branch=MAIN_BRANCH) == control
