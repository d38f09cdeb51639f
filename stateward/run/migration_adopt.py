"""Adopting a definition: a session that began under an older one goes on under the one at hand (DESIGN decision 8).

Nothing that happened is changed. One checkpoint is written, on a branch of its own, in one transaction with the records
that go with it and with an entry in the audit log: a session is migrated whole or not at all. With the old code at hand
the old branch can still be gone on with.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from langgraph.checkpoint.base import BaseCheckpointSaver

from stateward.run.drive import Bridge, Steps, Work
from stateward.run.invocation import Invocation
from stateward.run.migration import Line, Migration, Report
from stateward.run.migration_found import Inside, runs_inside
from stateward.run.migration_plan import Place, Plan, planned, refuse_blocked, refuse_nobody
from stateward.run.migration_write import written
from stateward.run.session import Session

_CUT_OFF = (
    "Its activity runs a chart that was cut off in its middle, at {at}. Entered again under another definition, it "
    "would begin anew and call again what it has called: resume the session with the definition that began it, so that "
    "it ends, or cancel the run."
)


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
    refuse_nobody(by)
    refuse_blocked(first.report)
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
        refuse_blocked(plan.report)
        return (yield Work(fn=written, args=(plan, invocation, by), must_end=True))
    finally:
        yield Work(fn=invocation.leave, must_end=True)


def _planned(session: Session, migration: Migration) -> Steps[Plan]:
    saver = cast("BaseCheckpointSaver[Any]", session.graph.checkpointer)
    place = Place(
        session=session.id, graph=session.graph, database=session.database, saver=saver, config=session.config
    )
    inside: tuple[Inside, ...] = yield from runs_inside(saver, session.id)
    return (yield from planned(replace(place, lines=tuple(_cut_off(one) for one in inside)), migration))


def _cut_off(inside: Inside) -> Line:
    at = ", ".join(f"`{path}`" for path in inside.raw["at"]) or "its start"
    return Line(kind="state", name=inside.node, note=_CUT_OFF.format(at=at), blocks=True)
