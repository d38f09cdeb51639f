"""Calls that are still at a session of this process when the next one comes from the same place.

Who leaves `async for` over a stream early leaves it to Python to close the stream, some turns of the event loop later;
until then the call holds its session. The next call from there finds it here, and waits until it is over.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, wait
from contextvars import ContextVar

LEFT_S = 1.0
"""How long a call waits for an earlier one from the same place, in seconds."""


class Presence:
    """One call of a graph, from its opening to its end; made where the graph is called.

    Args:
        session: The session's id.
    """

    def __init__(self, session: str) -> None:
        self.session = session
        self.loop = _running_loop()
        self.over: Future[None] = Future()
        if self.loop is not None:  # a sync stream is closed where it is left
            _HERE.set((*(one for one in _HERE.get() if not one.over.done()), self))

    def end(self) -> None:
        """Say that the call holds its session no longer; a second time is nothing."""
        if not self.over.done():
            self.over.set_result(None)


_HERE: ContextVar[tuple[Presence, ...]] = ContextVar("stateward_presence", default=())


def outwait(session: str, *, own: Presence | None) -> bool:
    """Wait for earlier calls of a session that came from the same place; not on the loop that ends them.

    Args:
        session: The session's id.
        own: The call that waits.

    Returns:
        Whether there were any, and all are over.
    """
    earlier = [one for one in _HERE.get() if one.session == session and one is not own and not one.over.done()]
    if not earlier or any(one.loop is _running_loop() for one in earlier):
        return False
    return not wait([one.over for one in earlier], timeout=LEFT_S).not_done


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
