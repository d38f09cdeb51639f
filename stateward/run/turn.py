"""A call that waits for its turn at a session which somebody else runs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from threading import Lock
from typing import Any

from stateward.errors import SessionBusy
from stateward.run.call import is_held
from stateward.run.caller import Caller
from stateward.run.configurable import TURN
from stateward.run.drive import Steps, Work
from stateward.run.outcome import Outcome
from stateward.run.sending import pausing
from stateward.run.store.turns import Place, Turns


class InLine:
    """A place in a queue that can be given up while a thread is just taking or keeping it.

    A caller that is cancelled does not stop its thread: what it takes after that would stand there with nobody behind.

    Args:
        turns: The turns of the database.
        session: The session's id.
        limit: How many may wait, at least 1.
    """

    def __init__(self, turns: Turns, session: str, *, limit: int) -> None:
        self._turns = turns
        self._session = session
        self._limit = limit
        self._lock = Lock()
        self._left = False
        self.place: Place | None = None
        """The place; None when it is not taken yet, or given up."""

    def take(self) -> None:
        """Take the place; nothing when it was given up before.

        Raises:
            SessionBusy: So many wait already.
        """
        with self._lock:
            if not self._left:
                self.place = self._turns.take(self._session, limit=self._limit)

    def is_next(self) -> bool:
        """Say whether the turn has come, and keep the place; no when it was given up.

        Raises:
            SessionBusy: The place was lost.
        """
        with self._lock:
            return self.place is not None and self._turns.is_next(self.place)

    def leave(self) -> None:
        """Give the place up, also one that is just being taken."""
        self._left = True  # at once: who has not begun to take it does not
        with self._lock:
            place, self.place = self.place, None
            if place is not None:
                self._turns.leave(place)


def in_turn(caller: Caller, given: object, *, more: Mapping[str, Any], queue: int, until: float) -> Steps[Outcome]:
    """Make a call, behind those that came before.

    Args:
        caller: The session.
        given: State keys, a `Command`, or None to go on.
        more: What the call has in `configurable` beside the session's own.
        queue: How many may wait, at least 1.
        until: How long to wait, by the monotonic clock.

    Returns:
        A generator of work that returns where the session stands.

    Raises:
        SessionBusy: Too many inputs wait, or the turn did not come in time.
    """
    turns, session = caller.database.turns, caller.session
    waiting: int = yield Work(fn=turns.waiting, args=(session,))
    if not waiting:
        try:
            return (yield caller.calling(given, more=more))
        except SessionBusy as busy:
            if not is_held(busy, session):
                raise
    line = InLine(turns, session, limit=queue)
    try:
        yield Work(fn=line.take)
        return (yield from _waited(caller, given, line, more, until=until))
    finally:
        yield Work(fn=line.leave, must_end=True)


def _waited(caller: Caller, given: object, line: InLine, more: Mapping[str, Any], *, until: float) -> Steps[Outcome]:
    """Wait until a turn has come and the session is free."""
    session = caller.session
    while True:
        first: bool = yield Work(fn=line.is_next)
        if first:
            try:
                return (yield caller.calling(given, more={**more, TURN: line.place}))
            except SessionBusy as busy:
                if not is_held(busy, session):
                    raise
        if time.monotonic() >= until:
            raise SessionBusy(
                f"Session `{session}` is at work, and the turn of this input has not come in time",
                fix="Send it again later, or wait longer: `Session(…, queue_wait_s=SECONDS)`.",
                session=session,
            )
        yield pausing()
