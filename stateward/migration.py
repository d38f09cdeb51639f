"""Drift, and two ways out: a session that began under an older definition adopts the one at hand, or keeps its policy.

    from stateward.migration import Migration, adopt

    report = adopt(session, Migration(states={"REVIEW": "CHECK"}), by="ann", dry_run=True)

docs/migration.md says what can be declared, and what becomes of calls, questions and timers.
"""

from __future__ import annotations

from stateward.run.drive import Bridge, drive_async, drive_sync
from stateward.run.migration import Kind, Line, Migration, Report
from stateward.run.migration_adopt import adoption
from stateward.run.migration_keep import keeping
from stateward.run.session import Session

__all__ = ["Kind", "Line", "Migration", "Report", "aadopt", "adopt", "akeep", "keep"]


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
