"""Drift, and two ways out: a session that began under an older definition adopts the one at hand, or keeps its policy.

    from stateward.migration import Migration, adopt

    report = adopt(session, Migration(states={"REVIEW": "CHECK"}), by="ann", dry_run=True)

docs/migration.md says what can be declared, and what becomes of calls, questions and timers.
"""

from __future__ import annotations

from langchain_core.runnables import RunnableConfig

from stateward.run.drive import Bridge, drive_async, drive_sync
from stateward.run.migration import Kind, Line, Migration, Report
from stateward.run.migration_adopt import adoption
from stateward.run.migration_keep import keeping
from stateward.run.migration_nodes import AnyGraph, adoption_inside
from stateward.run.session import Session
from stateward.run.store.database import Database
from stateward.run.threads import Threads

__all__ = ["Kind", "Line", "Migration", "Report", "aadopt", "aadopt_nodes", "adopt", "adopt_nodes", "akeep", "keep"]


def adopt(session: Session, migration: Migration | None = None, *, by: str, dry_run: bool = False) -> Report:
    """Let a session that began under an older definition go on under that of its graph.

    Args:
        session: The session, over the new graph.
        migration: What was renamed; None when nothing was, as when only a policy changed.
        by: Who migrates, for the audit log.
        dry_run: Whether to change nothing and only say what would be.

    Returns:
        What becomes of each part of the session.

    Raises:
        GovernanceError: Nobody is named.
        SessionBusy: A run holds the session.
        Drift: Something of the session does not fit the new definition; nothing was written. Not in a dry run: there
            the report says it.
    """
    return drive_sync(adoption(session, migration or Migration(), by=by, dry_run=dry_run), bridge=Bridge())


async def aadopt(session: Session, migration: Migration | None = None, *, by: str, dry_run: bool = False) -> Report:
    """Let a session go on under the definition of its graph; see `adopt`.

    Args:
        session: The session, over the new graph.
        migration: What was renamed; None when nothing was.
        by: Who migrates, for the audit log.
        dry_run: Whether to change nothing and only say what would be.

    Returns:
        What becomes of each part of the session.

    Raises:
        GovernanceError: Nobody is named.
        SessionBusy: A run holds the session.
        Drift: Something of the session does not fit the new definition; nothing was written.
    """
    steps = adoption(session, migration or Migration(), by=by, dry_run=dry_run)
    return await drive_async(steps, threads=session.database.threads)


def adopt_nodes(
    graph: AnyGraph,
    config: RunnableConfig,
    migration: Migration | None = None,
    *,
    by: str,
    dry_run: bool = False,
    database: Database | None = None,
) -> tuple[Report, ...]:
    """Let the charts that are nodes of a LangGraph graph go on under the definitions it has of them now.

    Args:
        graph: The graph around, compiled with the new charts; its session must not be running.
        config: LangGraph's config of the session.
        migration: What was renamed, in whichever of the charts; None when nothing was.
        by: Who migrates, for the audit log.
        dry_run: Whether to change nothing and only say what would be.
        database: Where journal and asks of the charts are; None for where the charts look: `STATEWARD_DB`.

    Returns:
        What becomes of each chart whose run has not ended, by its node.

    Raises:
        GovernanceError: Nobody is named.
        InputRefused: The graph is a chart itself, has no checkpoints, or the config names no session.
        Drift: Something of a run does not fit the new definition; nothing was written. Not in a dry run.
    """
    steps = adoption_inside(graph, config, migration or Migration(), by=by, dry_run=dry_run, database=database)
    return drive_sync(steps, bridge=Bridge())


async def aadopt_nodes(
    graph: AnyGraph,
    config: RunnableConfig,
    migration: Migration | None = None,
    *,
    by: str,
    dry_run: bool = False,
    database: Database | None = None,
) -> tuple[Report, ...]:
    """Let the charts that are nodes of a LangGraph graph go on under the definitions at hand; see `adopt_nodes`.

    Args:
        graph: The graph around, compiled with the new charts; its session must not be running.
        config: LangGraph's config of the session.
        migration: What was renamed, in whichever of the charts; None when nothing was.
        by: Who migrates, for the audit log.
        dry_run: Whether to change nothing and only say what would be.
        database: Where journal and asks of the charts are; None for where the charts look.

    Returns:
        What becomes of each chart whose run has not ended, by its node.

    Raises:
        GovernanceError: Nobody is named.
        InputRefused: The graph is a chart itself, has no checkpoints, or the config names no session.
        Drift: Something of a run does not fit the new definition; nothing was written. Not in a dry run.
    """
    steps = adoption_inside(graph, config, migration or Migration(), by=by, dry_run=dry_run, database=database)
    return await drive_async(steps, threads=database.threads if database is not None else Threads())


def keep(session: Session) -> Session:
    """Let a session go on under the policies its run began under, when nothing but a policy changed since.

    Args:
        session: The session, over the graph at hand.

    Returns:
        The session over a graph with those policies, until its run ends; the session itself when its run is under the
        policies at hand, or when none of its runs is unfinished.

    Raises:
        Drift: The chart or the schema is another one, too, or the policies are not stored here.
    """
    return drive_sync(keeping(session), bridge=Bridge())


async def akeep(session: Session) -> Session:
    """Let a session go on under the policies its run began under; see `keep`.

    Args:
        session: The session, over the graph at hand.

    Returns:
        The session over a graph with those policies, until its run ends.

    Raises:
        Drift: The chart or the schema is another one, too, or the policies are not stored here.
    """
    return await drive_async(keeping(session), threads=session.database.threads)
