"""The control channel: what Stateward keeps in a LangGraph checkpoint, and its codec.

One channel named `stateward` holds plain JSON with a version. It is written as small deltas that the channel's reducer
merges, and it is encoded and decoded here and nowhere else; what is left out of it in store says `control_form.py`.
State indices never leave the process: a checkpoint knows states by their paths, so that a chart may grow without
breaking what is stored.

| key | value |
|---|---|
| `v` | version of this layout |
| `status` | one of the status words |
| `at` | paths of the active atomic states |
| `history` | superstate path -> paths it would resume |
| `entries` | state path -> number of activations in this run |
| `marks` | superstate path -> id of the last message when it was left |
| `asks` | state path -> ids of the open asks of its activity |
| `ended` | state path -> activation: states that are still active though their activity has ended (parallel regions) |
| `brought` | state path -> event that brought the chart there, for the activities of parallel regions |
| `failed` | state path -> reason: failures of regions that no transition took, while others go on |
| `timers` | number -> `id`, `event`, `due`, `owner`: what is to be delivered later, in the order of (due, number) |
| `mail` | the number of the last event taken from the mailbox |
| `run` | id, number in the session, mode, pinned hashes |
| `branch` | name of the line of checkpoints |
| `branches` | the session's lines by name: where each began and was left; see `run/branch.py` |
| `left` | keys of the state that a migration left behind; see `run/migration_values.py` |
| `event` | what brought the chart into its present state, when that was an event |
| `reason` | why the run ended, when it did not complete |
| `last` | what the last step did: event, transitions, guard verdicts, changed keys, cost, letters |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

from pydantic import ValidationError

from stateward.chart.configuration import Configuration
from stateward.chart.definition import Definition
from stateward.chart.event import Occurrence
from stateward.errors import CodecError, Drift
from stateward.run.control_form import full_run, short_run, unsaid
from stateward.run.payload import nearest

VERSION = 1
CHANNEL = "stateward"
MAIN_BRANCH = "main"
NAMED = 12
"""Digits of a hash by which a checkpoint's metadata names it."""
FENCE = "__stateward_fence"
"""The configurable key under which a saver finds the fencing token of the writer.

Two underscores: LangGraph keeps such keys out of metadata.
"""
AFTER = "__stateward_after"
"""The configurable key of a session's fencing token that its caller saw; who held it since makes the call stale."""

Status = Literal["running", "waiting", "completed", "halted", "failed", "cancelled"]
_STATUSES: frozenset[str] = frozenset(get_args(Status))
TERMINAL: frozenset[str] = frozenset({"completed", "halted", "failed", "cancelled"})
Json = dict[str, Any]
"""JSON as LangGraph stores it: the shape is checked by `decode`, not by the type."""

MERGED = frozenset({"history", "entries", "marks", "asks", "ended", "brought", "failed", "timers"})
_EMPTY: Mapping[str, Any] = MappingProxyType({})
_KEYS = frozenset({"status", "at", "run"})
"""What every control value has, and below what its `run` and the hashes in it have."""
_RUN_KEYS = frozenset({"id", "no", "mode", "hashes"})
_HASH_KEYS = frozenset({"chart", "policy", "schema"})


def merge(current: Json, delta: Json) -> Json:
    """Reduce a delta into the control value.

    Args:
        current: The value in the checkpoint; an empty dict before the first run.
        delta: The keys that change. For the keyed tables `None` as an entry removes it and `None` as table empties it.

    Returns:
        The new control value.
    """
    begins = "v" in delta
    if begins:  # what the last run left is gone, and what is the session's stays
        current = {**current, **unsaid(branch=MAIN_BRANCH)}
    merged = {**current, **delta}
    for table in MERGED.intersection(delta):
        merged[table] = _merge_table(current.get(table), delta[table])
    return {**merged, "run": full_run(merged.get("run"))} if begins else merged


def _merge_table(current: Json | None, delta: Json | None) -> Json:
    if delta is None:
        return {}
    table = {**(current or {}), **delta}
    if None not in delta.values():
        return table
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

    def named(self) -> dict[str, str]:
        """Return how a checkpoint's metadata names them: by the first digits, as commits are; the whole ones are what
        the control channel and the session's row hold, and what is compared."""
        return {f"{part}_hash": value[:NAMED] for part, value in self.to_json().items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """The decoded control channel of one checkpoint: states and event as the chart knows them, the rest as stored."""

    configuration: Configuration
    event: Occurrence | None
    raw: Mapping[str, Any]
    """The stored value; `decode` has checked its shape."""

    @property
    def started(self) -> bool:
        """Whether the kernel has entered the initial configuration."""
        return bool(self.configuration.active)

    @property
    def status(self) -> Status:
        """The status word."""
        return self.raw["status"]

    @property
    def run(self) -> str:
        """The run's id."""
        return self.raw["run"]["id"]

    @property
    def run_no(self) -> int:
        """The run's number in the session, from 1."""
        return self.raw["run"]["no"]

    @property
    def pins(self) -> Pins:
        """What was fixed when the run started."""
        run, hashes = self.raw["run"], self.raw["run"]["hashes"]
        return Pins(chart=hashes["chart"], policy=hashes["policy"], schema=hashes["schema"], mode=run["mode"])

    @property
    def branch(self) -> str:
        """The line of checkpoints the run is on."""
        return self.raw.get("branch", MAIN_BRANCH)

    @property
    def marks(self) -> Mapping[str, str]:
        """State path to the id of the last message when that state was left."""
        return self.raw.get("marks") or _EMPTY

    @property
    def asks(self) -> Mapping[str, list[str]]:
        """State path to the ids of the open asks of its activity."""
        return self.raw.get("asks") or _EMPTY

    @property
    def ended(self) -> Mapping[str, int]:
        """State path to activation, for states that are active although their activity has ended."""
        return self.raw.get("ended") or _EMPTY

    @property
    def brought(self) -> Mapping[str, Json]:
        """State path to the event that brought a region there, as it is stored."""
        return self.raw.get("brought") or _EMPTY

    @property
    def failed(self) -> Mapping[str, Mapping[str, Any]]:
        """State path to reason, for regions that failed while others go on."""
        return self.raw.get("failed") or _EMPTY

    @property
    def timers(self) -> Mapping[str, Json]:
        """Number to what is to be delivered later, as it is stored; `run/timers.py` reads it."""
        return self.raw.get("timers") or _EMPTY

    @property
    def mail(self) -> int:
        """The number of the last event taken from the mailbox; 0 when none was."""
        return self.raw.get("mail") or 0

    @property
    def reason(self) -> Mapping[str, Any] | None:
        """Why the run ended, when it did not complete."""
        return self.raw.get("reason")


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
    for part, keys in ((raw, _KEYS), (run, _RUN_KEYS), (run["hashes"], _HASH_KEYS)):
        if not part.keys() >= keys:
            raise KeyError(*sorted(keys - part.keys()))
    if raw["status"] not in _STATUSES:
        raise KeyError(f"status {raw['status']!r}")
    known = _still_known(raw, chart) if raw["status"] in TERMINAL else raw
    return Control(configuration=_configuration(known, chart), event=decode_event(known.get("event"), chart), raw=raw)


def _still_known(raw: Mapping[str, Any], chart: Definition) -> Json:
    """Where a run ended that is over need not be in the chart any more: the next one begins anew."""
    paths = chart.by_path
    history: Mapping[str, Sequence[str]] = raw.get("history") or _EMPTY
    entries: Mapping[str, int] = raw.get("entries") or _EMPTY
    kept = {path: states for path, states in history.items() if {path, *states} <= paths.keys()}
    counts = {path: count for path, count in entries.items() if path in paths}
    event = raw.get("event") if raw["status"] == "halted" else None  # that one may be reopened
    return {"at": [path for path in raw["at"] if path in paths], "history": kept, "entries": counts, "event": event}


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
        return Occurrence(
            name=raw["name"], data=kind.model_validate(raw.get("data") or {}, by_alias=True, by_name=True)
        )
    except ValidationError as misfit:
        raise CodecError(
            f"The stored data of event `{raw['name']}` does not fit its type: {misfit}",
            fix="Resume with the event's type as it was when the event came.",
        ) from misfit


def encode_event(event: Occurrence | None) -> Json | None:
    """Return an event as it is stored: its data in the nearest JSON.

    Args:
        event: The happening, or None.
    """
    if event is None:
        return None
    return {"name": event.name, "data": nearest(event.data)}


def _configuration(raw: Mapping[str, Any], chart: Definition) -> Configuration:
    by_path = chart.by_path
    try:
        history = {
            by_path[path]: tuple(by_path[target] for target in targets)
            for path, targets in (raw.get("history") or _EMPTY).items()
        }
        entries = {by_path[path]: count for path, count in (raw.get("entries") or _EMPTY).items()}
        return Configuration(active=_active(raw["at"], chart), history=history, entries=entries)
    except KeyError as unknown:
        raise _drifted(unknown.args[0], chart) from unknown


def _active(paths: Sequence[str], chart: Definition) -> tuple[int, ...]:
    """The states at these paths and all around them, in document order."""
    chains = [chart.tables.chains[chart.by_path[path]] for path in paths]
    return chains[0] if len(chains) == 1 else tuple(sorted(set[int]().union(*chains)))


def _drifted(path: str, chart: Definition) -> Drift:
    states = sorted(node.path for node in chart.nodes if node.path and node.kind != "history")
    return Drift(
        f"The checkpoint is in state `{path}`, which chart `{chart.name}` does not have",
        where="the stored configuration",
        fix=f"States now: {', '.join(states)}. Adopt this chart: `stateward migrate SESSION --state {path}=NEW`.",
    )


def wakes_at(raw: Mapping[str, Any]) -> float | None:
    """Return when the first pending timer of a run is due.

    Args:
        raw: The channel's value.

    Returns:
        Seconds since the epoch; None when nothing is pending, or when the run has ended.
    """
    timers: Mapping[str, Json] = raw.get("timers") or _EMPTY
    if not timers or raw["status"] in TERMINAL:
        return None
    return min(timer["due"] for timer in timers.values())


def configuration_delta(
    before: Configuration, after: Configuration, chart: Definition, *, entered: Iterable[int]
) -> Json:
    """Say what a step changed in the configuration.

    Args:
        before: The configuration the step started from.
        after: The configuration it came to rest in.
        chart: The definition both belong to.
        entered: The states the step entered; the counts of all others are as they were.

    Returns:
        The keys `at`, and where they changed `history` and `entries`, with paths for indices.
    """
    nodes = chart.nodes
    delta: Json = {"at": [nodes[i].path for i in after.atomic(chart)]}
    changed = {nodes[i].path: after.entries[i] for i in entered if before.entries.get(i) != after.entries[i]}
    if changed:
        delta["entries"] = changed
    if after.history is not before.history:
        delta |= history_delta(before, after, chart)
    return delta


def history_delta(before: Configuration, after: Configuration, chart: Definition) -> Json:
    """Say what a step changed in what histories remember.

    Args:
        before: The configuration the step started from.
        after: The configuration it came to rest in.
        chart: The definition both belong to.

    Returns:
        The key `history`, with paths for indices; nothing where nothing changed.
    """
    nodes = chart.nodes
    history = {
        nodes[i].path: [nodes[t].path for t in targets]
        for i, targets in after.history.items()
        if before.history.get(i) != targets
    }
    return {"history": history} if history else {}


def start_delta(*, run: str, run_no: int, pins: Pins, branch: str) -> Json:
    """Return the delta that opens a run: no state is active yet, and what the last one left is merged away.

    The number of the last event taken from the mailbox stays: it belongs to the session.

    Args:
        run: The new run's id.
        run_no: Its number in the session, from 1.
        pins: Hashes and mode that hold until the run ends.
        branch: The line of checkpoints it runs on.

    Returns:
        The delta, to be written together with the input.
    """
    told = short_run({"id": run, "no": run_no, "mode": pins.mode, "hashes": pins.to_json()})
    delta: Json = {"v": VERSION, "status": "running", "at": [], "last": {"event": "start"}, "run": told}
    return delta if branch == MAIN_BRANCH else {**delta, "branch": branch}
