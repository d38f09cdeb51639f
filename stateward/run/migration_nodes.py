"""Adopting a definition in the charts that are nodes of somebody's LangGraph graph.

The graph around is LangGraph's own affair: what is migrated are the runs of the charts inside it that have not ended,
each in its own checkpoints, all under one declaration and all or none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph

from stateward.errors import InputRefused
from stateward.run.drive import Bridge, Steps, Work
from stateward.run.graph import ChartGraph
from stateward.run.invocation import Invocation, session_of
from stateward.run.migration import Line, Migration, Report
from stateward.run.migration_found import Inside, runs_inside
from stateward.run.migration_plan import Place, Plan, planned, refuse_blocked, refuse_nobody
from stateward.run.migration_write import written
from stateward.run.nested import CHECKPOINTER
from stateward.run.snapshot import pins_of
from stateward.run.store.database import Database

AnyGraph = CompiledStateGraph[Any, Any, Any, Any]
_STRANGE = (
    "The graph has no chart in this node now, and LangGraph would not find the run again: keep the node, under this "
    "name, until its runs have ended."
)


def adoption_inside(
    graph: AnyGraph,
    config: RunnableConfig,
    migration: Migration,
    *,
    by: str,
    dry_run: bool,
    database: Database | None,
) -> Steps[tuple[Report, ...]]:
    """Let the charts inside a session's graph go on under their definitions at hand.

    Args:
        graph: The graph around, with the new charts.
        config: LangGraph's config of the session.
        migration: What was renamed, in whichever of the charts.
        by: Who migrates, for the audit log.
        dry_run: Whether nothing is written.
        database: Where journal and asks of the charts are; None for where the charts look.

    Returns:
        A generator of work that returns a report for each chart whose run has not ended.

    Raises:
        GovernanceError: Nobody is named.
        InputRefused: The graph is a chart, has no checkpoints, or the config names no session.
        Drift: Something of a run does not fit the new definition; nothing was written.
    """
    session, saver = _session(graph, config), _saver(graph, database)
    if not dry_run:
        refuse_nobody(by)
    inside: tuple[Inside, ...] = yield from runs_inside(saver, session)
    charts = _charts(graph)
    plans: list[Plan] = []
    reports: list[Report] = []
    for one in inside:
        if one.node not in charts:
            reports.append(_strange(one, session))
            continue
        place: Place = yield Work(fn=_place, args=(one, charts[one.node], session, saver, database))
        plans.append((yield from planned(place, migration)))
        reports.append(plans[-1].report)
    if dry_run:
        return tuple(reports)
    refuse_blocked(*reports)
    return (yield Work(fn=_written, args=(plans, session, by), must_end=True))


def _session(graph: AnyGraph, config: RunnableConfig) -> str:
    if isinstance(graph, ChartGraph):
        raise InputRefused(f"`{graph.name}` is a chart itself", fix="Migrate its sessions with `adopt(Session(…), …)`.")
    session = session_of(config)
    if session is None:
        raise InputRefused("The config names no session", fix='Pass {"configurable": {"thread_id": …}}.')
    return session


def _saver(graph: AnyGraph, database: Database | None) -> BaseCheckpointSaver[Any]:
    own = cast("object", graph.checkpointer)
    if isinstance(own, BaseCheckpointSaver):
        return cast("BaseCheckpointSaver[Any]", own)
    if database is None:
        raise InputRefused(
            f"Graph `{graph.name}` was compiled without a checkpointer",
            fix="Compile it with the one that its sessions are kept by, or give the `database`.",
        )
    allowed = (chart.allowed for chart in _charts(graph).values())
    return database.saver.with_allowlist(frozenset[tuple[str, str]]().union(*allowed))


def _charts(graph: AnyGraph) -> dict[str, ChartGraph]:
    """The charts inside a graph by their nodes."""
    inside = cast("Iterable[tuple[str, object]]", graph.get_subgraphs(recurse=True))
    return {node: inner for node, inner in inside if isinstance(inner, ChartGraph)}


def _place(
    inside: Inside, chart: ChartGraph, session: str, saver: BaseCheckpointSaver[Any], database: Database | None
) -> Place:
    tables = database if database is not None else chart.tables.database(saver)
    config: RunnableConfig = {
        "configurable": {"thread_id": session, "checkpoint_ns": inside.namespace, CHECKPOINTER: saver}
    }
    return Place(session=session, graph=chart, database=tables, saver=saver, config=config, node=inside.node)


def _strange(inside: Inside, session: str) -> Report:
    pins = pins_of(inside.raw)
    return Report(
        session=session,
        node=inside.node,
        status=inside.raw["status"],
        run=inside.raw["run"]["id"],
        before=pins,
        after=pins,
        lines=(Line(kind="migration", name=inside.node, note=_STRANGE, blocks=True),),
    )


def _written(plans: list[Plan], session: str, by: str) -> tuple[Report, ...]:
    if not plans:
        return ()
    database = plans[0].place.database
    with database.transaction(session):
        return tuple(written(plan, _writer(plan), by) for plan in plans)


def _writer(plan: Plan) -> Invocation:
    """Nobody leases a session whose graph is no chart."""
    place = plan.place
    return Invocation(
        session=place.session,
        open_database=lambda: place.database,
        bridge=Bridge(),
        threads=place.graph.tables.threads,
    )
