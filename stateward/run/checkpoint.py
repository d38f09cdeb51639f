"""The control channel: what Stateward keeps in a LangGraph checkpoint, and its codec.

One channel named `stateward` holds plain JSON with a version. It is written as small deltas that the channel's reducer
merges, and it is encoded and decoded here and nowhere else. State indices never leave the process: a checkpoint knows
states by their paths, so that a chart may grow without breaking what is stored.

| key | value |
|---|---|
| `v` | version of this layout |
| `status` | one of the status words |
| `at` | paths of the active atomic states |
| `history` | superstate path -> paths it would resume |
| `entries` | state path -> number of activations so far |
| `marks` | superstate path -> id of the last message when it was left |
| `asks` | state path -> ids of the open asks of its activity |
| `run` | id, number in the session, mode, pinned hashes |
| `branch` | name of the line of checkpoints |
| `event` | what brought the chart into its present state, when that was an event |
| `reason` | why the run ended, when it did not complete |
| `last` | what the last step did: event, transitions, guard verdicts, changed keys, cost |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import to_jsonable_python

from stateward.chart.configuration import Configuration
from stateward.chart.definition import Definition
from stateward.chart.event import Occurrence
from stateward.errors import CodecError, Drift

VERSION = 1
CHANNEL = "stateward"
MAIN_BRANCH = "main"
FENCE = "stateward_fence"
"""The configurable key under which a saver finds the fencing token of the writer."""

Status = Literal["running", "waiting", "completed", "halted", "failed", "cancelled"]
TERMINAL: frozenset[str] = frozenset({"completed", "halted", "failed", "cancelled"})
Json = dict[str, Any]
"""JSON as LangGraph stores it: the shape is checked by `decode`, not by the type."""

_MERGED = ("history", "entries", "marks", "asks")
_EMPTY: Mapping[str, Any] = MappingProxyType({})


def merge(current: Json, delta: Json) -> Json:
    """Reduce a delta into the control value.

    Args:
        current: The value in the checkpoint; an empty dict before the first run.
        delta: The keys that change. For the keyed tables `None` as an entry removes it and `None` as table empties it.

    Returns:
        The new control value.
    """
    merged = {**current, **delta}
    for table in _MERGED:
        if table in delta:
            merged[table] = _merge_table(current.get(table), delta[table])
    return merged


def _merge_table(current: Json | None, delta: Json | None) -> Json:
    if delta is None:
        return {}
    table = {**(current or {}), **delta}
    return {key: value for key, value in table.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """What is fixed when a run starts and named in every checkpoint of it."""

    chart: str
    policy: str
    schema: str
    mode: str

    def to_json(self) -> Json:
        """Return the hashes as they are stored."""
        return {"chart": self.chart, "policy": self.policy, "schema": self.schema}


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """The decoded control channel of one checkpoint."""

    status: Status
    configuration: Configuration
    run: str
    run_no: int
    pins: Pins
    branch: str = MAIN_BRANCH
    marks: Mapping[str, str] = field(default_factory=dict[str, str])
    asks: Mapping[str, list[str]] = field(default_factory=dict[str, list[str]])
    event: Occurrence | None = None
    reason: Mapping[str, Any] | None = None
    last: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def started(self) -> bool:
        """Whether the kernel has entered the initial configuration."""
        return bool(self.configuration.active)


def decode(raw: Mapping[str, Any], chart: Definition) -> Control | None:
    """Read a control value.

    Args:
        raw: The channel's value; empty when no run was started.
        chart: The definition whose states the paths name.

    Returns:
        The control, or None when no run was ever started.

    Raises:
        CodecError: The version is unknown, or a key is missing or of another shape.
        Drift: The checkpoint names a state that the chart does not have.
    """
    if not raw:
        return None
    if raw.get("v") != VERSION:
        raise CodecError(
            f"The checkpoint's control channel has version `{raw.get('v')}`, this release reads `{VERSION}`",
            fix="Resume with the release of Stateward that wrote it.",
        )
    try:
        return _decode(raw, chart)
    except (KeyError, TypeError, AttributeError) as broken:
        raise CodecError(
            f"The checkpoint's control channel is damaged: {broken!r}",
            fix="Go back to an earlier checkpoint of the session.",
        ) from broken


def _decode(raw: Mapping[str, Any], chart: Definition) -> Control:
    run = raw["run"]
    status = raw["status"]
    if status not in get_args(Status):
        raise KeyError(f"status {status!r}")
    hashes = run["hashes"]
    return Control(
        status=cast(Status, status),
        configuration=_configuration(raw, chart),
        run=run["id"],
        run_no=run["no"],
        pins=Pins(chart=hashes["chart"], policy=hashes["policy"], schema=hashes["schema"], mode=run["mode"]),
        branch=raw.get("branch", MAIN_BRANCH),
        marks=raw.get("marks") or _EMPTY,
        asks=raw.get("asks") or _EMPTY,
        event=decode_event(raw.get("event"), chart),
        reason=raw.get("reason"),
        last=raw.get("last") or _EMPTY,
    )


def decode_event(raw: Mapping[str, Any] | None, chart: Definition) -> Occurrence | None:
    """Read a stored event, typed where the chart knows its type.

    Args:
        raw: `name` and `data`, or None.
        chart: The definition that declares the event.

    Returns:
        The happening, or None.

    Raises:
        CodecError: The stored data no longer fits the event's type.
    """
    if raw is None:
        return None
    kind = chart.events.get(raw["name"])
    if kind is None:
        return Occurrence(name=raw["name"], data=raw.get("data"))
    try:
        return Occurrence(name=raw["name"], data=kind.model_validate(raw.get("data") or {}))
    except ValidationError as misfit:
        raise CodecError(
            f"The stored data of event `{raw['name']}` does not fit its type: {misfit}",
            fix="Resume with the event's type as it was when the event came.",
        ) from misfit


def encode_event(event: Occurrence | None) -> Json | None:
    """Return an event as it is stored.

    Args:
        event: The happening, or None.
    """
    if event is None:
        return None
    data = event.data.model_dump(mode="json") if isinstance(event.data, BaseModel) else event.data
    return {"name": event.name, "data": to_jsonable_python(data, fallback=str)}


def _configuration(raw: Mapping[str, Any], chart: Definition) -> Configuration:
    active: set[int] = set()
    for path in raw["at"]:
        index = _index(path, chart)
        active.add(index)
        active.update(chart.ancestors(index))
    history = {
        _index(path, chart): tuple(_index(target, chart) for target in targets)
        for path, targets in (raw.get("history") or _EMPTY).items()
    }
    entries = {_index(path, chart): count for path, count in (raw.get("entries") or _EMPTY).items()}
    return Configuration(active=tuple(sorted(active)), history=history, entries=entries)


def _index(path: str, chart: Definition) -> int:
    index = chart.by_path.get(path)
    if index is None:
        raise Drift(
            f"The checkpoint is in state `{path}`, which chart `{chart.name}` does not have",
            where="the stored configuration",
            fix=f"States now: {', '.join(sorted(chart.by_path))}. Resume with the chart that started the run.",
        )
    return index


def configuration_delta(before: Configuration, after: Configuration, chart: Definition) -> Json:
    """Say what a step changed in the configuration.

    Args:
        before: The configuration the step started from.
        after: The configuration it came to rest in.
        chart: The definition both belong to.

    Returns:
        The keys `at`, and where they changed `history` and `entries`, with paths for indices.
    """
    nodes = chart.nodes
    delta: Json = {"at": [nodes[i].path for i in after.active if not nodes[i].children]}
    changed = {nodes[i].path: n for i, n in after.entries.items() if before.entries.get(i) != n}
    if changed:
        delta["entries"] = changed
    history = {
        nodes[i].path: [nodes[t].path for t in targets]
        for i, targets in after.history.items()
        if before.history.get(i) != targets
    }
    if history:
        delta["history"] = history
    return delta


def start_delta(*, run: str, run_no: int, pins: Pins, branch: str) -> Json:
    """Return the delta that opens a run: no state is active yet, history and asks are empty.

    Args:
        run: The new run's id.
        run_no: Its number in the session, from 1.
        pins: Hashes and mode that hold until the run ends.
        branch: The line of checkpoints it runs on.

    Returns:
        The delta, to be written together with the input.
    """
    return {
        "v": VERSION,
        "status": "running",
        "at": [],
        "history": None,
        "asks": None,
        "event": None,
        "reason": None,
        "last": {"event": "start"},
        "branch": branch,
        "run": {"id": run, "no": run_no, "mode": pins.mode, "hashes": pins.to_json()},
    }
