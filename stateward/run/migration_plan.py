"""What a migration would do to one run of a chart: a session's, or that of a chart that is a node of another graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.types import StateSnapshot

from stateward.errors import Drift, GovernanceError
from stateward.govern.person import person
from stateward.run.admission import REOPENS
from stateward.run.branch import KEY, chosen_name, known, with_new
from stateward.run.called import checkpoint_id, committed
from stateward.run.checkpoint import MAIN_BRANCH, MERGED, TERMINAL, Control, Json, Pins, decode
from stateward.run.drive import Steps, Work
from stateward.run.graph import ChartGraph
from stateward.run.migration import Line, Migration, Report
from stateward.run.migration_control import ControlMigration
from stateward.run.migration_records import Move, Records
from stateward.run.migration_standing import standing
from stateward.run.migration_values import LEFT, ValuesMigration, left_before, old_keys, readable
from stateward.run.nested import SHARED
from stateward.run.people.reminder import moved_reminders
from stateward.run.snapshot import control_in, pins_of
from stateward.run.store.database import Database
from stateward.run.store.inheritance import names_in_use


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a run is kept that is to be migrated."""

    session: str
    graph: ChartGraph
    """The chart as it is now."""
    database: Database
    """Where its journal and asks are."""
    saver: BaseCheckpointSaver[Any]
    config: RunnableConfig
    """LangGraph's config of its checkpoints."""
    node: str = ""
    """Of a chart inside another graph: the node, with those around it; empty for a session's own."""
    lines: tuple[Line, ...] = ()
    """What stands in the way, whatever the run's checkpoint says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A session's latest checkpoint, read for its new definition."""

    snapshot: StateSnapshot
    raw: Json
    values: Mapping[str, Any]
    """With the renamed keys under their old names."""
    gone: tuple[str, ...]
    """The keys that the new schema has not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be written, and the report of it."""

    report: Report
    place: Place
    found: Found | None = None
    move: Move | None = None
    records: Records | None = None
    control: Json | None = None
    """The new value of the control channel, without the branch."""
    update: Mapping[str, Any] | None = None
    goto: str = ""


def planned(place: Place, migration: Migration) -> Steps[Plan]:
    """See what becomes of a run under the definition at hand.

    Args:
        place: Where the run is kept.
        migration: What was renamed.

    Returns:
        A generator of work that returns the plan; its report says what stands in the way.
    """
    found: Found | None = yield from _read(place, migration)
    return (yield Work(fn=_plan, args=(place, migration, found)))


def _read(place: Place, migration: Migration) -> Steps[Found | None]:
    """Read the latest checkpoint; the values of renamed keys as the new schema reads them."""
    graph, own = place.graph, cast("Mapping[str, Any]", place.graph.channels)
    channels = readable(own, migration.keys)
    reader = graph
    if channels:
        shown = [*graph.stream_channels_list, *channels]
        reader = graph.copy({"channels": {**own, **channels}, "stream_channels": shown})
    snapshot: StateSnapshot = yield from committed(reader, place.config)
    values = cast("Mapping[str, Any]", snapshot.values or {})
    raw = control_in(snapshot)
    get, aget = place.saver.get_tuple, place.saver.aget_tuple
    stored: CheckpointTuple | None = yield Work(fn=get, afn=aget, args=(snapshot.config,))
    if not raw or stored is None:
        return None
    gone = old_keys(graph.machine, stored.checkpoint["channel_versions"], left=left_before(raw))
    return Found(snapshot=snapshot, raw=raw, values=values, gone=gone)


def _plan(place: Place, migration: Migration, found: Found | None) -> Plan:
    machine = place.graph.machine
    nothing = _nothing_to_do(found, machine.pins)
    if found is None or nothing:
        status, run = (found.raw["status"], found.raw["run"]["id"]) if found is not None else ("", "")
        before = pins_of(found.raw) if found is not None else None
        return Plan(
            place=place,
            report=Report(
                session=place.session,
                node=place.node,
                status=status,
                run=run,
                before=before,
                after=machine.pins,
                note=nothing,
            ),
        )
    control, values = (
        ControlMigration(found.raw, machine=machine, migration=migration),
        ValuesMigration(machine.schema, migration),
    )
    new, seen = control.whole(), values.take(found.values, gone=found.gone)
    lines = [*place.lines, *control.lines, *values.lines]
    plan = Plan(place=place, report=_report(place, found, lines), found=found)
    return plan if plan.report.blocking else _moved(place, migration, found, new, seen, values.update, lines)


def _moved(
    place: Place,
    migration: Migration,
    found: Found,
    new: Json,
    seen: Mapping[str, Any],
    update: Mapping[str, Any],
    lines: list[Line],
) -> Plan:
    """See what becomes of calls and questions, and where the run goes on; the names fit by now."""
    machine, raw = place.graph.machine, found.raw
    new = {
        **new,
        "run": {**raw["run"], "mode": machine.pins.mode, "hashes": machine.pins.to_json()},
        LEFT: [*left_before(raw), *found.gone],
        "last": {"event": "migrate", "state": "", "activation": 0},
        **_shared(raw, migration),
    }
    move = Move(
        database=place.database,
        machine=machine,
        migration=migration,
        raw=raw,
        control=cast(Control, decode(new, machine.chart)),
        session=place.session,
        branch=_branch(place, found),
    )
    records = move.records()
    lines = [*lines, *records.lines]
    if any(line.blocks for line in records.lines):
        return Plan(place=place, report=_report(place, found, lines))
    stood: Mapping[str, Sequence[str]] = new["asks"]
    kept = {path: [records.asks[ask].id for ask in ids if ask in records.asks] for path, ids in stood.items()}
    new["asks"] = {path: ids for path, ids in kept.items() if ids}
    waiting = {number: each for number, each in new["timers"].items() if each["id"] not in records.withdrawn}
    new["timers"] = {**waiting, **moved_reminders(waiting, {old: ask.id for old, ask in records.asks.items()})}
    again = frozenset(records.withdrawn.values())
    stands = standing(machine, cast(Control, decode(new, machine.chart)), seen, again=again)
    if stands.line is not None:
        return Plan(place=place, report=_report(place, found, [*lines, stands.line]))
    return Plan(
        place=place, report=_report(place, found, lines), found=found, move=move, records=records,
        control={**new, **stands.delta}, update=update, goto=stands.goto,
    )  # fmt: skip


def _shared(raw: Json, migration: Migration) -> Json:
    """What a run has still to tell the graph around it, under the new names of its keys."""
    shared: Mapping[str, Any] | None = raw.get(SHARED)
    if shared is None:
        return {}
    renamed = {migration.keys.get(key, key): told for key, told in shared.items()}
    return {SHARED: {key: told for key, told in renamed.items() if key is not None}}


def _nothing_to_do(found: Found | None, pins: Pins) -> str:
    if found is None:
        return "The session has no run."
    raw = found.raw
    reason: Mapping[str, Any] = raw.get("reason") or {}
    event = reason.get("event", "")
    if raw["status"] in TERMINAL and not (raw["status"] == "halted" and event in REOPENS):
        return f"The run is {raw['status']}; the next input opens one under the new definition."
    return "The run is under this definition already." if pins_of(raw) == pins else ""


def _report(place: Place, found: Found, lines: list[Line]) -> Report:
    return Report(
        session=place.session,
        node=place.node,
        status=found.raw["status"],
        run=found.raw["run"]["id"],
        before=pins_of(found.raw),
        after=place.graph.machine.pins,
        lines=tuple(lines),
    )


def _branch(place: Place, found: Found) -> str:
    table = known(found.raw, head=checkpoint_id(found.snapshot.config))
    used = names_in_use(place.database, place.session)
    of = found.raw.get("branch") or MAIN_BRANCH
    return chosen_name(None, of=of, taken={*used, *table}, session=place.session)


def branched(plan: Plan) -> Json:
    """Return the new control, on its branch: where that began, and which question stands for which.

    Args:
        plan: What is to be written.
    """
    found, move, records = cast(Found, plan.found), cast(Move, plan.move), cast(Records, plan.records)
    raw, head = found.raw, checkpoint_id(found.snapshot.config)
    branches = with_new(
        known(raw, head=head),
        move.branch,
        control=raw,
        head=head,
        step=(found.snapshot.metadata or {}).get("step"),
        asks={old: ask.id for old, ask in records.asks.items()},
    )
    return {**cast(Json, plan.control), "branch": move.branch, KEY: branches}


def delta(raw: Json, new: Json) -> Json:
    """Return the delta that makes the control channel a new value.

    Args:
        raw: The old value.
        new: The new one.
    """
    changes: Json = {}
    for key, value in new.items():
        if key in MERGED:
            changes[key] = {**dict.fromkeys(raw.get(key) or {}), **(value or {})}
        elif value != raw.get(key):
            changes[key] = value
    return changes


def refuse_nobody(by: str) -> None:
    """Refuse to migrate in nobody's name.

    Args:
        by: Who migrates.

    Raises:
        GovernanceError: It names no person.
    """
    if not person(by):
        raise GovernanceError("A session can only be migrated by a named person", fix="Say who with `by`.")


def refuse_blocked(*reports: Report) -> None:
    """Refuse to migrate what does not fit.

    Args:
        reports: Of each run.

    Raises:
        Drift: Something blocks; all of it is told.
    """
    blocked = next((report for report in reports if report.blocking), None)
    if blocked is None:
        return
    notes = " ".join(_told(report, line) for report in reports for line in report.blocking)
    raise Drift(
        f"Session `{blocked.session}` does not fit the new definition. {notes.removesuffix('.')}",
        where=f"run {blocked.run}",
        fix="Declare it; a dry run tells all there is to declare, and changes nothing.",
        report=blocked,
    )


def _told(report: Report, line: Line) -> str:
    return f"{f'node `{report.node}`, ' if report.node else ''}{line.kind} `{line.name}`: {line.note}"
