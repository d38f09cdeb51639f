"""Writing a migration: one checkpoint on a branch of its own, the records beside it, and an entry in the audit log."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from langchain_core.runnables import RunnableConfig

from stateward.run.called import checkpoint_id
from stateward.run.checkpoint import CHANNEL, MAIN_BRANCH, Json, Pins
from stateward.run.configurable import pinned, with_invocation
from stateward.run.edit import any_node, placed
from stateward.run.invocation import Invocation
from stateward.run.migration import Report, told
from stateward.run.migration_plan import Plan, branched, delta
from stateward.run.migration_records import Move, keep
from stateward.run.pinned_policy import remember
from stateward.run.snapshot import addressed


def written(plan: Plan, invocation: Invocation, by: str) -> Report:
    """Write all of a migration, or nothing.

    Args:
        plan: What is to be written.
        invocation: Who writes; of a session, with its lease.
        by: Who migrates, for the audit log.

    Returns:
        The report, with the new checkpoint; as it was when there is nothing to do.
    """
    report = plan.report
    if report.note or plan.move is None or plan.found is None or plan.records is None:
        return report
    place, move = plan.place, plan.move
    graph, database = place.graph, place.database
    control = branched(plan)
    update = {**(plan.update or {}), CHANNEL: delta(plan.found.raw, control)}
    with database.transaction(place.session) as cur:
        keep(plan.records, move=move, fence=invocation.fence)
        remember(graph.machine, database, session=place.session)
        work = graph.writing(
            with_invocation(pinned(addressed(place.config, plan.found.snapshot), graph.machine.pins), invocation),
            placed(update, goto=plan.goto, node=any_node(graph.machine)),
        )
        config: RunnableConfig = cast(Any, work.fn)(*work.args)
        checkpoint = checkpoint_id(config)
        # A saver that is not ours leaves our tables alone. The row is the session's, and not of a chart in a node.
        if graph.tables.attached is None and not place.node:
            database.sessions.project(cur, session=place.session, control=control, checkpoint=checkpoint)
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
        **({"node": report.node} if report.node else {}),
    }
