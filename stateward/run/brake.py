"""The brake of one call of a graph: it stops the node that runs, from any thread, and says what comes instead.

LangGraph knows two ways to stop a run: to cancel its task, which leaves the run unfinished, and to drain it, which
waits for the step. A run that is cancelled by somebody, or whose time is over, shall stop at its next await and be
recorded as ended in the same checkpoint as any other step. So the brake cuts the work of the node, and the node itself
goes on: it commits what `stopped.py` makes of the halt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, TypeVar

from stateward.run.drive import Bridge, LeftEarly, Steps, drive_async
from stateward.run.threads import Threads

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """Why the nodes of a call stop."""

    status: Literal["cancelled", "halted"]
    """How the run ends."""
    event: str
    """What happened, as the run's reason has it."""
    data: Mapping[str, Any]
    """JSON."""
    is_event: bool = False
    """Whether the chart may take it as an event and go on; only when it does not, the run ends."""


class Brake:
    """Stops the nodes of one call.

    Args:
        bridge: The way from the call's sync code to its event loop.
    """

    def __init__(self, bridge: Bridge) -> None:
        self.halt: Halt | None = None
        """Why the call is to stop; None while it is not."""
        self._bridge = bridge
        self._loop: asyncio.AbstractEventLoop | None = None
        self._nodes: set[asyncio.Task[Any]] = set()
        self._cut: set[asyncio.Task[Any]] = set()
        """The nodes that were cancelled from here, and not by whoever awaits them."""
        self._lock = Lock()

    def pull(self, halt: Halt) -> None:
        """Stop the call at its next await; from any thread.

        Args:
            halt: Why. One that ends the run stands, whatever comes later.
        """
        with self._lock:
            if self.halt is not None and not self.halt.is_event:
                return
            self.halt = halt
            self._bridge.leave()
        if self._loop is not None:
            with suppress(RuntimeError):  # it was closed: none of its nodes can go on
                self._loop.call_soon_threadsafe(self._cut_nodes)

    def _cut_nodes(self) -> None:
        for node in self._nodes - self._cut:
            self._cut.add(node)
            node.cancel()

    async def drive(self, steps: Callable[[], Steps[T]], stopped: Callable[[Halt], Steps[T]], *, threads: Threads) -> T:
        """Do the work of a node on this event loop.

        Args:
            steps: Makes the work.
            stopped: What is done instead when the call is to stop.
            threads: Where sync work runs.

        Returns:
            What the one or the other returns.
        """
        self._loop = asyncio.get_running_loop()
        if self.halt is None:
            node = asyncio.current_task()
            assert node is not None
            self._nodes.add(node)
            try:
                return await drive_async(steps(), threads=threads)
            except asyncio.CancelledError:
                if node not in self._cut or node.cancelling() > 1:
                    raise
            except LeftEarly:  # in a thread of a sync activity, before the node was cut
                if self.halt is None:
                    raise
            finally:
                self._let_go(node)
        return await drive_async(stopped(self.take()), threads=threads)

    def spared(self) -> bool:
        """Let the present node go on although the run was cancelled: its sync code cannot be stopped, and ends first.

        Returns:
            Whether it may: a deadline does not wait, and neither does who has cancelled the task itself.
        """
        node, halt = asyncio.current_task(), self.halt
        if node is None or node not in self._cut or node.cancelling() > 1 or halt is None or halt.status != "cancelled":
            return False
        self._cut.discard(node)
        node.uncancel()
        return True

    def _let_go(self, node: asyncio.Task[Any]) -> None:
        self._nodes.discard(node)
        if node in self._cut:
            self._cut.discard(node)
            node.uncancel()

    def take(self) -> Halt:
        """Take the halt of a call that is to stop; calls are let through again.

        Returns:
            The halt. One that is an event is taken once, any other stands for the nodes that may follow.
        """
        with self._lock:
            halt = self.halt
            assert halt is not None
            if halt.is_event:
                self.halt = None
            self._bridge.reopen()
        return halt
