"""What the calls of one run share in this process, whatever activity makes them: lanes, pace and working time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock

from stateward.govern.layer import Limit
from stateward.govern.rate import WINDOW_S, Beginning, Pause, pause
from stateward.govern.request import CallKind
from stateward.run.door.lanes import Lanes
from stateward.run.door.stopwatch import Stopwatch
from stateward.run.store.database import Database
from stateward.run.store.further import further_attempts

MOST_KEPT = 4096
"""Beginnings that are kept before the old ones are forgotten."""


class Traffic:
    """The traffic of one call of a graph; a graph that it calls inside shares it.

    Args:
        check: Raises when what the call does is not waited for any more; None where that does not happen.
    """

    def __init__(self, *, check: Callable[[], None] | None = None) -> None:
        self.check = check or _nothing
        """Raises when what the call does is not waited for any more; asked by threads that wait."""
        self.lanes = Lanes()
        """How many calls are under way at once."""
        self.stopwatch = Stopwatch()
        """How long the runs have worked."""
        self.turnstile = Lock()
        """Held from the look at a rate until the call is begun, so that two calls do not take one place."""
        self._begun: dict[str, list[Beginning]] = {}

    def pause(self, limits: Iterable[Limit], *, session: str, kind: CallKind, now: float, past: Past) -> Pause | None:
        """Say how long a call has to wait for its turn; call it, and `began`, with the turnstile held.

        Args:
            limits: The rates that hold for it.
            session: Whose call it is.
            kind: What it goes to.
            now: The time, in seconds since the epoch.
            past: Reads the calls that the session began since a time: those of earlier calls of the graph.

        Returns:
            The pause; None when the call may begin.
        """
        begun = self._begun.get(session)
        if begun is None:
            begun = self._begun[session] = list(past(now - WINDOW_S))
        elif len(begun) > MOST_KEPT:
            begun[:] = [each for each in begun if each.at > now - WINDOW_S]
        return pause(limits, kind=kind, begun=begun, now=now)

    def counts(self, session: str) -> bool:
        """Say whether anybody asks for the pace of a session; else nothing needs to be noted.

        Args:
            session: The session.
        """
        return session in self._begun

    def began(self, session: str, beginning: Beginning) -> None:
        """Note that a call was begun.

        Args:
            session: Whose call it is.
            beginning: What it is, and when.
        """
        begun = self._begun.get(session)
        if begun is not None:  # else nobody has asked: the journal will tell
            begun.append(beginning)


def beginnings(database: Database, session: str, *, since: float) -> list[Beginning]:
    """Read the calls that a session began, and further attempts at them; blocking.

    Args:
        database: Where the journal is.
        session: The session's id.
        since: Only later ones, in seconds since the epoch.
    """
    rows = database.journal.begun_since(session, since)
    first = [Beginning(kind=kind, path=path, at=at) for kind, path, at in rows]
    further = further_attempts(database, session, since=since)
    return [*first, *(Beginning(kind="model", path=path, at=at) for path, at in further)]


def _nothing() -> None:
    pass


Past = Callable[[float], Iterable[Beginning]]
"""Reads the calls that a session began since a time, in seconds since the epoch."""
