"""The calls that are at work in this process, by session: who runs it, since when, and how it is stopped.

A call is entered when it holds its session's lease and leaves before it gives the lease back, however it ends; so an
entry is as good as the lease, and never that of another process. What other processes order, to stop a call, is looked
for by one thread for all calls, which ends when there are none.

A registry belongs to a database object; nothing is kept beside it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field

from stateward.errors import StatewardError
from stateward.run.brake import Halt

LOOK_S = 0.05
"""How often it is looked for orders of other processes, in seconds."""
IDLE_LOOKS = 40
"""How many looks without a call end the thread that looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What another process wants of the call that holds a session."""

    session: str
    fence: int
    """Of the lease that the call holds: a later call is not meant."""
    halt: Halt | None
    """Why it is to stop; None to let it end after its step."""


@dataclass(slots=True, kw_only=True, eq=False)
class Live:
    """A call at work."""

    session: str
    graph: str
    fence: int
    """Of its lease."""
    since: float
    """When it took the session, in seconds since the epoch."""
    thread: str
    """The thread that began it."""
    halt: Callable[[Halt], None]
    """Stops it at its next await."""
    drain: Callable[[], None]
    """Lets it end after its step."""
    waiting: list[Future[None]] = field(default_factory=list[Future[None]])
    """What is done when it has ended."""


class Registry:
    """The calls at work over one database in this process.

    Args:
        orders: Looks for what other processes have ordered since the last look; None where there are none.
    """

    def __init__(self, orders: Callable[[], Iterable[Order]] | None = None) -> None:
        self._orders = orders
        self._live: dict[str, Live] = {}
        self._known: tuple[Order, ...] = ()
        self._guard = threading.Lock()
        self._stop = threading.Event()
        self.looker: threading.Thread | None = None
        """Looks for orders; None while nobody does."""

    def find(self, session: str) -> Live | None:
        """Return the call that runs a session in this process, or None.

        Args:
            session: The session's id.
        """
        return self._live.get(session)

    def list(self) -> tuple[Live, ...]:
        """Return all calls at work, the oldest first."""
        with self._guard:
            return tuple(self._live.values())

    def enter(self, live: Live) -> None:
        """Note a call that holds its session's lease.

        Args:
            live: The call.
        """
        with self._guard:
            self._live[live.session] = live
            if self._orders is not None and self.looker is None and not self._stop.is_set():
                self.looker = threading.Thread(target=self._look, name="stateward-registry", daemon=True)
                self.looker.start()

    def leave(self, session: str, *, fence: int) -> None:
        """Forget a call, and tell whoever waits for its end.

        Args:
            session: The session's id.
            fence: Of the call's lease; nothing happens when another call has the session since.
        """
        with self._guard:
            live = self._live.get(session)
            if live is None or live.fence != fence:
                return
            del self._live[session]
        for over in live.waiting:
            if over.set_running_or_notify_cancel():
                over.set_result(None)

    def over(self, session: str) -> Future[None] | None:
        """Return what is done when the call of a session has ended, or None when there is none.

        Args:
            session: The session's id.
        """
        with self._guard:
            live = self._live.get(session)
            if live is None:
                return None
            over: Future[None] = Future()
            live.waiting.append(over)
            return over

    def close(self) -> None:
        """End the thread that looks for orders."""
        self._stop.set()
        looker = self.looker
        if looker is not None and looker is not threading.current_thread():
            looker.join()

    def _look(self) -> None:
        quiet = 0
        while not self._stop.wait(LOOK_S):
            with self._guard:
                quiet = 0 if self._live else quiet + 1
                if quiet > IDLE_LOOKS:
                    self.looker = None
                    return
            if not quiet:
                self._deliver()

    def _deliver(self) -> None:
        assert self._orders is not None
        try:
            orders = tuple(self._orders())
        except StatewardError:
            return  # a locked or lost database may recover; whoever orders waits
        # An order may be read a moment before the call that it means is entered here.
        self._known = tuple(order for order in orders or self._known if not self._follow(order))

    def _follow(self, order: Order) -> bool:
        """Hand an order on, and say whether the call that it means was here."""
        live = self._live.get(order.session)
        if live is None or live.fence != order.fence:
            return False
        if order.halt is not None:
            live.halt(order.halt)
        else:
            live.drain()
        return True
