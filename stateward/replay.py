"""Replay: a recorded run is played again offline and compared step by step; no tool and no model is called.

    from stateward.replay import replay

    (replayed,) = replay(session)
    assert replayed.same, replayed.divergence

docs/replay.md says what is compared, and what a run must not do to be played again.
"""

from __future__ import annotations

import asyncio
from contextlib import closing

from stateward.run.drive import Bridge, drive_async, drive_sync
from stateward.run.replay.divergence import Difference, Divergence, Replayed
from stateward.run.replay.play import replaying
from stateward.run.session import Session

__all__ = ["Difference", "Divergence", "Replayed", "areplay", "replay"]


def replay(session: Session, *, run: int | None = None) -> tuple[Replayed, ...]:
    """Play the recorded runs of a session again, the oldest first, up to the first that differs.

    Args:
        session: The session, with the graph as it is now; what is recorded of it stays as it is.
        run: Only the run of this number, from 1; None for all.

    Returns:
        What each came to.

    Raises:
        UnknownSession: No session has this id, it is another tenant's, or it has no checkpoint here.
        NotExpected: The session has no such run, or steps of one that is wanted are not stored any more.
    """
    with closing(Bridge()) as bridge:
        return drive_sync(replaying(session, run, bridge=bridge), bridge=bridge)


async def areplay(session: Session, *, run: int | None = None) -> tuple[Replayed, ...]:
    """Play the recorded runs of a session again on this event loop; see `replay`.

    Args:
        session: The session, with the graph as it is now; what is recorded of it stays as it is.
        run: Only the run of this number, from 1; None for all.

    Returns:
        What each came to.

    Raises:
        UnknownSession: No session has this id, it is another tenant's, or it has no checkpoint here.
        NotExpected: The session has no such run, or steps of one that is wanted are not stored any more.
    """
    with closing(Bridge(loop=asyncio.get_running_loop())) as bridge:
        return await drive_async(replaying(session, run, bridge=bridge), threads=session.database.threads)
