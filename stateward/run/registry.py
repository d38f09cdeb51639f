"""The calls that are at work in this process, by session: who runs it, since when, and how it is stopped.

A call is entered when it holds its session's lease and leaves before it gives the lease back, however it ends; so an
entry is as good as the lease, and never that of another process. What other processes order, to stop a call, is looked
for by one thread for all calls, which ends when there are none. It also ends calls whose event loop was closed under
them: nothing of theirs can run any more.

A registry belongs to a database object; nothing is kept beside it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from stateward.errors import StatewardError
from stateward.run.brake import Halt
from stateward.run.store.per_process import PerProcess

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
    running: Callable[[], Sequence[str]] = tuple
    """Names its sync code that is in threads."""
    is_gone: Callable[[], bool] | None = None
    """Whether its event loop was closed under it; None for a call without one."""
    abandon: Callable[[], None] = lambda: None
    """Gives back its lease and ends its entry, when it is gone."""
    waiting: list[Future[None]] = field(default_factory=list[Future[None]])
    """What is done when it has ended."""


@dataclass(slots=True)
class _Here:
    """What a registry has in one process."""

    live: dict[str, Live] = field(default_factory=dict[str, Live])
    known: tuple[Order, ...] = ()
    """Orders that no call here was meant by, as far as was seen."""
    guard: threading.Lock = field(default_factory=threading.Lock)
    stop: threading.Event = field(default_factory=threading.Event)
    looker: threading.Thread | None = None


class Registry:
    """The calls at work over one database in this process.

    Args:
        orders: Looks for what other processes have ordered since the last look; None where there are none.
    """

    def __init__(self, orders: Callable[[], Iterable[Order]] | None = None) -> None:
        self._orders = orders
        self._here = PerProcess(_Here)

    @property
    def looker(self) -> threading.Thread | None:
        """The thread that looks for orders; None while nobody does."""
        return self._here.get().looker

    def find(self, session: str) -> Live | None:
        """Return the call that runs a session in this process, or None.

        Args:
            session: The session's id.
        """
        return self._here.get().live.get(session)

    def list(self) -> tuple[Live, ...]:
        """Return all calls at work, the oldest first."""
        here = self._here.get()
        with here.guard:
            return tuple(here.live.values())

    def enter(self, live: Live) -> None:
        """Note a call that holds its session's lease.

        Args:
            live: The call.
        """
        here, is_looked_for = self._here.get(), self._orders is not None or live.is_gone is not None
        with here.guard:
            here.live[live.session] = live
            if is_looked_for and here.looker is None and not here.stop.is_set():
                here.looker = threading.Thread(target=self._look, args=(here,), name="stateward-registry", daemon=True)
                here.looker.start()

    def leave(self, session: str, *, fence: int) -> None:
        """Forget a call, and tell whoever waits for its end.

        Args:
            session: The session's id.
            fence: Of the call's lease; nothing happens when another call has the session since.
        """
        here = self._here.get()
        with here.guard:
            live = here.live.get(session)
            if live is None or live.fence != fence:
                return
            del here.live[session]
        for over in live.waiting:
            if over.set_running_or_notify_cancel():
                over.set_result(None)

    def over(self, session: str) -> Future[None] | None:
        """Return what is done when the call of a session has ended, or None when there is none.

        Args:
            session: The session's id.
        """
        here = self._here.get()
        with here.guard:
            live = here.live.get(session)
            if live is None:
                return None
            over: Future[None] = Future()
            live.waiting.append(over)
            return over

    def close(self) -> None:
        """End the thread that looks for orders."""
        here = self._here.get()
        here.stop.set()
        looker = here.looker
        if looker is not None and looker is not threading.current_thread():
            looker.join()

    def _look(self, here: _Here) -> None:
        quiet = 0
        while not here.stop.wait(LOOK_S):
            with here.guard:
                quiet = 0 if here.live else quiet + 1
                if quiet > IDLE_LOOKS:
                    here.looker = None
                    return
                gone = tuple(live for live in here.live.values() if live.is_gone is not None and live.is_gone())
            for live in gone:
                _attempt(live.abandon)
            if not quiet and self._orders is not None:
                _attempt(lambda: self._deliver(here))

    def _deliver(self, here: _Here) -> None:
        assert self._orders is not None
        orders = tuple(self._orders())
        # An order may be read a moment before the call that it means is entered here.
        here.known = tuple(order for order in orders or here.known if not _follow(order, here.live))


def _follow(order: Order, calls: dict[str, Live]) -> bool:
    """Hand an order on, and say whether the call that it means was here."""
    live = calls.get(order.session)
    if live is None or live.fence != order.fence:
        return False
    halt = order.halt
    _attempt(live.drain if halt is None else lambda: live.halt(halt))
    return True


def _attempt(work: Callable[[], None]) -> None:
    """Do work for one call, whose failure is not that of the others: all of a process share the thread."""
    try:
        work()
    except StatewardError:
        return  # a locked or lost database may recover; whoever orders waits
    except Exception:  # noqa: BLE001  # reported as what ends a thread is
        threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
