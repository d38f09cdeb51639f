"""Adopting a definition: a session that began under an older one goes on under the one at hand (DESIGN decision 8).

Nothing that happened is changed. One checkpoint is written, on a branch of its own, in one transaction with the records
that go with it and with an entry in the audit log: a session is migrated whole or not at all. With the old code at hand
the old branch can still be gone on with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.types import StateSnapshot

from stateward.errors import Drift, GovernanceError
from stateward.run.admission import REOPENS
from stateward.run.branch import KEY, chosen_name, known, with_new
from stateward.run.called import checkpoint_id, committed
from stateward.run.checkpoint import CHANNEL, MAIN_BRANCH, MERGED, TERMINAL, Control, Json, Pins, decode
from stateward.run.configurable import pinned, with_invocation
from stateward.run.drive import Bridge, Steps, Work
from stateward.run.edit import any_node, placed
from stateward.run.invocation import Invocation
from stateward.run.migration import Line, Migration, Report, pins_of, told
from stateward.run.migration_control import ControlMigration
from stateward.run.migration_records import Move, Records, keep
from stateward.run.migration_standing import standing
from stateward.run.migration_values import LEFT, ValuesMigration, left_before, old_keys, readable
from stateward.run.pinned_policy import remember
from stateward.run.session import Session
from stateward.run.snapshot import addressed, control_in
from stateward.run.store.inheritance import names_in_use


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A session's latest checkpoint, read for its new definition."""

    snapshot: StateSnapshot
    raw: Json
    values: Mapping[str, Any]
    """With the renamed keys under their old names."""
    gone: tuple[str, ...]
    """The keys that the new schema has not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What is to be written, and the report of it."""

    report: Report
    found: _Found | None = None
    move: Move | None = None
    records: Records | None = None
    control: Json | None = None
    """The new value of the control channel, without the branch."""
    update: Mapping[str, Any] | None = None
    goto: str = ""


def adoption(session: Session, migration: Migration, *, by: str, dry_run: bool) -> Steps[Report]:
    """Let a session go on under the definition of its graph.

    Args:
        session: The session, over the new graph.
        migration: What was renamed.
        by: Who migrates, for the audit log.
        dry_run: Whether nothing is written; also no lease is taken.

    Returns:
        A generator of work that returns the report.

    Raises:
        GovernanceError: Nobody is named.
        SessionBusy: A run holds the session.
        Drift: Something of the session does not fit the new definition; nothing was written.
    """
    first = yield from _planned(session, migration)
    if dry_run:
        return first.report
    if not by.strip():
        raise GovernanceError("A session can only be migrated by a named person", fix="Say who with `by`.")
    _refuse_blocked(first.report)
    if first.report.note:
        return first.report
    graph, database = session.graph, session.database
    invocation = Invocation(
        session=session.id,
        open_database=lambda: database,
        bridge=Bridge(),
        threads=graph.tables.threads,
        tenant=session.tenant,
    )
    try:
        yield Work(fn=invocation.acquire, args=(graph.name, None))
        plan = yield from _planned(session, migration)  # somebody may have gone on with it meanwhile
        _refuse_blocked(plan.report)
        return (yield Work(fn=_written, args=(session, plan, invocation, by), must_end=True))
    finally:
        yield Work(fn=invocation.leave, must_end=True)


def _refuse_blocked(report: Report) -> None:
    blocking = report.blocking
    if not blocking:
        return
    notes = " ".join(f"{line.kind} `{line.name}`: {line.note}" for line in blocking)
    raise Drift(
        f"Session `{report.session}` does not fit the new definition. {notes.removesuffix('.')}",
        where=f"run {report.run}",
        fix="Declare it; a dry run tells all there is to declare, and changes nothing.",
        report=report,
    )


def _planned(session: Session, migration: Migration) -> Steps[_Plan]:
    found: _Found | None = yield from _read(session, migration)
    return (yield Work(fn=_plan, args=(session, migration, found)))


def _read(session: Session, migration: Migration) -> Steps[_Found | None]:
    """Read the latest checkpoint; the values of renamed keys as the new schema reads them."""
    graph, own = session.graph, cast("Mapping[str, Any]", session.graph.channels)
    channels = readable(own, migration.keys)
    reader = graph
    if channels:
        shown = [*graph.stream_channels_list, *channels]
        reader = graph.copy({"channels": {**own, **channels}, "stream_channels": shown})
    snapshot: StateSnapshot = yield from committed(reader, session.config)
    values = cast("Mapping[str, Any]", snapshot.values or {})
    raw = control_in(snapshot)
    saver = cast("BaseCheckpointSaver[Any]", graph.checkpointer)
    stored: CheckpointTuple | None = yield Work(fn=saver.get_tuple, afn=saver.aget_tuple, args=(snapshot.config,))
    if not raw or stored is None:
        return None
    gone = old_keys(graph.machine, stored.checkpoint["channel_versions"], left=left_before(raw))
    return _Found(snapshot=snapshot, raw=raw, values=values, gone=gone)


def _plan(session: Session, migration: Migration, found: _Found | None) -> _Plan:
    machine = session.graph.machine
    nothing = _nothing_to_do(found, machine.pins)
    if found is None or nothing:
        status, run = (found.raw["status"], found.raw["run"]["id"]) if found is not None else ("", "")
        before = pins_of(found.raw) if found is not None else None
        return _Plan(
            report=Report(session=session.id, status=status, run=run, before=before, after=machine.pins, note=nothing)
        )
    control, values = (
        ControlMigration(found.raw, machine=machine, migration=migration),
        ValuesMigration(machine.schema, migration),
    )
    new, seen = control.whole(), values.take(found.values, gone=found.gone)
    lines = [*control.lines, *values.lines]
    plan = _Plan(report=_report(session, found, lines), found=found)
    return plan if plan.report.blocking else _moved(session, migration, found, new, seen, values.update, lines)


def _moved(
    session: Session,
    migration: Migration,
    found: _Found,
    new: Json,
    seen: Mapping[str, Any],
    update: Mapping[str, Any],
    lines: list[Line],
) -> _Plan:
    """See what becomes of calls and questions, and where the run goes on; the names fit by now."""
    machine, raw = session.graph.machine, found.raw
    new = {
        **new,
        "run": {**raw["run"], "mode": machine.pins.mode, "hashes": machine.pins.to_json()},
        LEFT: [*left_before(raw), *found.gone],
        "last": {"event": "migrate", "state": "", "activation": 0},
    }
    move = Move(
        database=session.database,
        machine=machine,
        migration=migration,
        raw=raw,
        control=cast(Control, decode(new, machine.chart)),
        session=session.id,
        branch=_branch(session, found),
    )
    records = move.records()
    lines = [*lines, *records.lines]
    if any(line.blocks for line in records.lines):
        return _Plan(report=_report(session, found, lines))
    stood: Mapping[str, Sequence[str]] = new["asks"]
    kept = {path: [records.asks[ask].id for ask in ids if ask in records.asks] for path, ids in stood.items()}
    new["asks"] = {path: ids for path, ids in kept.items() if ids}
    again = frozenset(records.withdrawn.values())
    place = standing(machine, cast(Control, decode(new, machine.chart)), seen, again=again)
    if place.line is not None:
        return _Plan(report=_report(session, found, [*lines, place.line]))
    return _Plan(
        report=_report(session, found, lines), found=found, move=move, records=records,
        control={**new, **place.delta}, update=update, goto=place.goto,
    )  # fmt: skip


def _nothing_to_do(found: _Found | None, pins: Pins) -> str:
    if found is None:
        return "The session has no run."
    raw = found.raw
    reason: Mapping[str, Any] = raw.get("reason") or {}
    event = reason.get("event", "")
    if raw["status"] in TERMINAL and not (raw["status"] == "halted" and event in REOPENS):
        return f"The run is {raw['status']}; the next input opens one under the new definition."
    return "The run is under this definition already." if pins_of(raw) == pins else ""


def _report(session: Session, found: _Found, lines: list[Line]) -> Report:
    return Report(
        session=session.id,
        status=found.raw["status"],
        run=found.raw["run"]["id"],
        before=pins_of(found.raw),
        after=session.graph.machine.pins,
        lines=tuple(lines),
    )


def _branch(session: Session, found: _Found) -> str:
    table = known(found.raw, head=checkpoint_id(found.snapshot.config))
    used = names_in_use(session.database, session.id)
    of = found.raw.get("branch") or MAIN_BRANCH
    return chosen_name(None, of=of, taken={*used, *table}, session=session.id)


def _branched(plan: _Plan) -> Json:
    """The new control, on its branch: where that began, and which question stands for which."""
    found, move, records = cast(_Found, plan.found), cast(Move, plan.move), cast(Records, plan.records)
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


def _delta(raw: Json, new: Json) -> Json:
    """The delta that makes the control channel a new value."""
    delta: Json = {}
    for key, value in new.items():
        if key in MERGED:
            delta[key] = {**dict.fromkeys(raw.get(key) or {}), **(value or {})}
        elif value != raw.get(key):
            delta[key] = value
    return delta


def _written(session: Session, plan: _Plan, invocation: Invocation, by: str) -> Report:
    """Write all of it, or nothing."""
    report = plan.report
    if report.note or plan.move is None or plan.found is None or plan.records is None:
        return report
    graph, database, move = session.graph, session.database, plan.move
    control = _branched(plan)
    update = {**(plan.update or {}), CHANNEL: _delta(plan.found.raw, control)}
    with database.transaction(session.id) as cur:
        keep(plan.records, move=move, fence=invocation.fence)
        remember(graph.machine, database, session=session.id)
        work = graph.writing(
            with_invocation(pinned(addressed(session.config, plan.found.snapshot), graph.machine.pins), invocation),
            placed(update, goto=plan.goto, node=any_node(graph.machine)),
        )
        written: RunnableConfig = cast(Any, work.fn)(*work.args)
        checkpoint = checkpoint_id(written)
        if graph.tables.attached is None:  # a saver that is not ours leaves our tables alone
            database.sessions.project(cur, session=session.id, control=control, checkpoint=checkpoint)
        database.audit.append(_record(report, move, by=by, checkpoint=checkpoint))
    return replace(report, checkpoint=checkpoint)


def _record(report: Report, move: Move, *, by: str, checkpoint: str) -> Json:
    before = cast(Pins, report.before)
    renamed = [[line.kind, line.name, line.to] for line in report.lines if line.name != line.to and line.kind != "call"]
    return {
        "event": "migrated",
        "session": report.session,
        "run": report.run,
        "branch": move.branch,
        "of": move.raw.get("branch") or MAIN_BRANCH,
        "from": told(before),
        "to": told(report.after),
        "renamed": renamed,
        "checkpoint": checkpoint,
        "by": by,
    }
