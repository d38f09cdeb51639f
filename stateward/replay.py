"""Replay: a recorded run is played again offline and compared step by step; no tool and no model is called.

    from stateward.replay import replay

    (replayed,) = replay(session)
    assert replayed.same, replayed.divergence

docs/replay.md says what is compared, and what a run must not do to be played again.
"""

from __future__ import annotations

from stateward.run.replay.divergence import Difference, Divergence, Replayed
from stateward.run.replay.play import aplay, play
from stateward.run.replay.record import recordings
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
        UnknownSession: No session has this id, or it has no checkpoint here.
        NotExpected: The session has no such run.
    """
    played: list[Replayed] = []
    for one in recordings(session.graph, database=session.database, session=session.id, run_no=run):
        played.append(play(session.graph, one, context=session.context))
        if not played[-1].same:
            break
    return tuple(played)


async def areplay(session: Session, *, run: int | None = None) -> tuple[Replayed, ...]:
    """Play the recorded runs of a session again on this event loop; see `replay`.

    Args:
        session: The session, with the graph as it is now; what is recorded of it stays as it is.
        run: Only the run of this number, from 1; None for all.

    Returns:
        What each came to.

    Raises:
        UnknownSession: No session has this id, or it has no checkpoint here.
        NotExpected: The session has no such run.
    """
    played: list[Replayed] = []
    for one in recordings(session.graph, database=session.database, session=session.id, run_no=run):
        played.append(await aplay(session.graph, one, context=session.context))
        if not played[-1].same:
            break
    return tuple(played)
