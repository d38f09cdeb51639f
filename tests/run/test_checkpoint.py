"""The control channel and its codec."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.chart.compiler import build
from stateward.chart.configuration import Configuration
from stateward.chart.definition import Definition
from stateward.chart.event import Event, Occurrence
from stateward.chart.state import State, Superstate
from stateward.chart.transition import on
from stateward.errors import CodecError, Drift
from stateward.run.checkpoint import (
    MAIN_BRANCH,
    Pins,
    configuration_delta,
    decode,
    decode_event,
    encode_event,
    merge,
    start_delta,
    wakes_at,
)

PINS = Pins(chart="c", policy="p", schema="s", mode="strict")


class Told(Event):
    """An event with data."""

    text: str = ""


def chart() -> Definition:
    return build(
        "codec",
        [
            Superstate("OUT", State("A"), Superstate("IN", State("B"), State("C")), history="deep", on=[on(Told, "D")]),
            State("D", on=[on("back", "OUT")]),
        ],
    )


CHART = chart()
PATHS = [node.path for node in CHART.nodes if node.kind == "atomic"]


def opened(**change: Any) -> dict[str, Any]:
    return merge({}, start_delta(run="r", run_no=1, pins=PINS, branch=MAIN_BRANCH)) | change


tables = st.dictionaries(st.sampled_from(PATHS), st.one_of(st.none(), st.integers(1, 9)), max_size=4)
deltas = st.fixed_dictionaries(
    {},
    optional={
        "entries": st.one_of(st.none(), tables),
        "marks": st.one_of(st.none(), tables),
        "status": st.sampled_from(["running", "waiting"]),
        "at": st.lists(st.sampled_from(PATHS), max_size=2),
    },
)


@given(st.lists(deltas, max_size=6))
def test_merge_keeps_only_what_the_deltas_say(parts: list[dict[str, Any]]) -> None:
    """Plain keys are replaced, tables merged key by key, None removes; the inputs are not changed."""
    expected: dict[str, Any] = {}
    value: dict[str, Any] = {}
    for part in parts:
        frozen = repr(part)
        value = merge(value, part)
        assert repr(part) == frozen
        for key, change in part.items():
            if key in ("entries", "marks"):
                held = {} if change is None else {**expected.get(key, {}), **change}
                expected[key] = {name: n for name, n in held.items() if n is not None}
            else:
                expected[key] = change
    assert value == expected


@given(st.lists(st.sampled_from(PATHS), min_size=1, max_size=6))
def test_configuration_round_trips_through_deltas(path: list[str]) -> None:
    """Whatever way a chart goes, decoding the merged deltas gives the configuration it stands in."""
    raw = opened()
    before = Configuration(active=(), history={}, entries={})
    for name in path:
        after = stepped(before, CHART.by_path[name])
        raw = merge(raw, configuration_delta(before, after, CHART, entered=after.active))
        before = after
    control = decode(raw, CHART)
    assert control is not None
    assert control.configuration == before


def stepped(before: Configuration, leaf: int) -> Configuration:
    active = tuple(sorted((leaf, *CHART.ancestors(leaf))))
    out = CHART.by_path["OUT"]
    history = {**before.history}
    if before.active and out in before.active and out not in active:
        history[out] = before.atomic(CHART)
    entries = {**before.entries, **{state: before.entries.get(state, 0) + 1 for state in active}}
    return Configuration(active=active, history=history, entries=entries)


def test_new_run_is_running_nowhere() -> None:
    """The delta that opens a run clears what the last one left."""
    control = decode(
        merge(opened(at=["D"], entries={"D": 3}), start_delta(run="r2", run_no=2, pins=PINS, branch="b")), CHART
    )
    assert control is not None
    assert (control.started, control.run, control.run_no, control.branch) == (False, "r2", 2, "b")
    assert control.configuration.entries == {}


def test_nothing_is_no_control() -> None:
    """A session without a run has none."""
    assert decode({}, CHART) is None


@pytest.mark.parametrize("change", [{"v": 2}, {"v": None}])
def test_other_version_is_refused(change: dict[str, Any]) -> None:
    """A layout this release does not know is loud."""
    with pytest.raises(CodecError, match="version"):
        decode(opened(**change), CHART)


@pytest.mark.parametrize(
    "change", [{"run": {}}, {"status": "lost"}, {"at": None}, {"run": {"id": 1}}, {"entries": [1]}, {"run": "r"}]
)
def test_damage_is_refused(change: dict[str, Any]) -> None:
    """A missing key or another shape is a codec error, never a half-read control."""
    with pytest.raises(CodecError, match="damaged"):
        decode(opened(**change), CHART)


@pytest.mark.parametrize("change", [{"at": ["GONE"]}, {"history": {"OUT": ["GONE"]}}, {"entries": {"GONE": 1}}])
def test_unknown_state_is_drift(change: dict[str, Any]) -> None:
    """A state the chart does not have is named."""
    with pytest.raises(Drift, match="GONE"):
        decode(opened(**change), CHART)


def test_drift_names_the_states_there_are() -> None:
    """Neither the chart itself nor what stands for a history."""
    with pytest.raises(Drift) as drifted:
        decode(opened(at=["GONE"]), CHART)
    told = str(drifted.value).partition("States now: ")[2].partition(". ")[0].split(", ")
    assert told == sorted(node.path for node in CHART.nodes[1:] if node.kind != "history")
    assert any(node.kind == "history" for node in CHART.nodes)


def test_typed_event_round_trips() -> None:
    """An event comes back as the type it was."""
    event = Occurrence(name="told", data=Told(text="x"))
    assert decode_event(encode_event(event), CHART) == event


def test_bare_event_round_trips_as_json() -> None:
    """Data of an untyped event is plain JSON."""
    stored = encode_event(Occurrence(name="bare", data={"n": (1, 2)}))
    assert stored == {"name": "bare", "data": {"n": [1, 2]}}
    assert decode_event(None, CHART) is None
    assert encode_event(None) is None


def test_stored_event_that_no_longer_fits_is_loud() -> None:
    """An event's type that changed is a codec error."""
    with pytest.raises(CodecError, match="told"):
        decode_event({"name": "told", "data": {"other": 1}}, CHART)


def test_tables_of_timers_and_regions_are_merged_by_key() -> None:
    """As asks are: None removes an entry, and None as table empties it."""
    first = opened(timers={"1": {"due": 5.0}, "2": {"due": 3.0}}, mail=4, ended={"A": 1}, failed={"B": {"event": "x"}})
    control = decode(first, CHART)
    assert control is not None
    assert (control.mail, control.ended, control.failed) == (4, {"A": 1}, {"B": {"event": "x"}})
    after = merge(first, {"timers": {"1": None, "3": {"due": 9.0}}, "ended": None})
    assert (after["timers"], after["ended"], after["mail"]) == ({"2": {"due": 3.0}, "3": {"due": 9.0}}, {}, 4)


def test_control_of_an_older_checkpoint_has_no_timers_and_no_mail() -> None:
    """What was not there yet reads as empty."""
    control = decode(opened(), CHART)
    assert control is not None
    assert (dict(control.timers), control.mail, dict(control.ended), dict(control.failed)) == ({}, 0, {}, {})
    assert wakes_at(control.raw) is None


def test_a_new_run_keeps_the_mail_and_forgets_the_timers() -> None:
    """Letters are the session's, timers the run's."""
    before = opened(timers={"1": {"due": 5.0}}, mail=4)
    after = merge(before, start_delta(run="r2", run_no=2, pins=PINS, branch="main"))
    assert (after["timers"], after["mail"]) == ({}, 4)
