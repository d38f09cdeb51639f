"""An event loop in a thread of ours: where a sync call of a graph awaits, and which the next call may have after it.

To make a loop and its thread costs more than most of what is awaited there. So one that a call leaves as clean as it
was made waits for a moment for the next call. Clean is one on which nothing is left that could still happen (no task,
timer, callback, socket, generator, nor work in its executor) and of which nothing was set otherwise. Whatever cannot be
looked at is taken for unclean: a loop of another make is never kept. What is unclean ends with its call.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any, cast
from weakref import WeakSet

from stateward.run.private_loop import private_loop
from stateward.run.store.per_process import PerProcess
from stateward.run.threads import LoopThreads

IDLE_S = 1.0
"""How long a loop waits for another call before it ends, in seconds."""
MOST_IDLE = 4
"""How many wait; more than these calls at the same time have loops that end with them."""

_TURNS = 3
"""How many turns of a loop may pass until nothing is ready on it any more."""


class LoopThread:
    """A running loop in a thread of its own, of one call at a time."""

    def __init__(self) -> None:
        self.broken: BaseException | None = None
        """What ended the loop before its time: `SystemExit` in a task of its own."""
        self._ending = asyncio.Event()
        self._asked: Future[bool] | None = None
        self._generators: WeakSet[AsyncGenerator[Any, Any]] = WeakSet()
        self._own: asyncio.Task[Any] | None = None
        self._waits: asyncio.TimerHandle | None = None
        ready: Future[asyncio.AbstractEventLoop] = Future()
        # A daemon: a tool that blocks the loop must not hold up the end of the process.
        self._thread = Thread(target=self._serve, args=(ready,), name="stateward-bridge", daemon=True)
        self._thread.start()
        self.loop = ready.result()
        self._made = _settings(self.loop)

    @property
    def is_alive(self) -> bool:
        """Whether it can be given a call."""
        return self.broken is None and self._thread.is_alive()

    def _serve(self, ready: Future[asyncio.AbstractEventLoop]) -> None:
        try:
            with private_loop() as loop:
                try:
                    loop.run_until_complete(self._stay(ready))
                except BaseException as error:  # noqa: BLE001  # raised where the call is awaited
                    self.broken = error
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)  # there are no more files, for instance: whoever waits for the loop is told
        finally:
            asked = self._asked
            if asked is not None and not asked.done():
                asked.set_result(False)  # the loop ended before it could answer

    async def _stay(self, ready: Future[asyncio.AbstractEventLoop]) -> None:
        loop, self._own = asyncio.get_running_loop(), asyncio.current_task()
        hooks = sys.get_asyncgen_hooks()

        def begun(generator: AsyncGenerator[Any, Any]) -> None:
            self._generators.add(generator)
            if hooks.firstiter is not None:
                hooks.firstiter(generator)

        sys.set_asyncgen_hooks(firstiter=begun)  # the loop puts back what was there before it
        ready.set_result(loop)
        await self._ending.wait()

    def leave(self, loops: Loops | None, *, patience_s: float) -> None:
        """End the call on this loop, and the loop itself unless it is kept for another.

        A loop that does not answer, because something blocks it, is left behind: it ends when it can.

        Args:
            loops: Where it may wait for another call; None for nowhere.
            patience_s: How long to wait for the loop, in seconds.
        """
        until, asked = time.monotonic() + patience_s, Future[bool]()
        self._asked = asked
        try:
            self.loop.call_soon_threadsafe(self._answer, asked, loops, _TURNS)
        except RuntimeError:  # the loop has ended by itself
            asked.cancel()
        with suppress(TimeoutError, CancelledError):
            if asked.result(patience_s):
                return
        asked.cancel()  # a late answer would keep what nobody gives back
        self._thread.join(max(0.0, until - time.monotonic()))

    def _answer(self, asked: Future[bool], loops: Loops | None, turns: int) -> None:
        """Say whether the loop is kept; on the loop, when all that was called before is over."""
        if turns and loops is not None and getattr(self.loop, "_ready", ()):  # at least what has woken it up just now
            self.loop.call_soon(self._answer, asked, loops, turns - 1)
            return
        if self._waits is not None:
            self._waits.cancel()
        if not asked.set_running_or_notify_cancel():
            self._ending.set()
            return
        if loops is not None and self._is_clean() and loops.keep(self):
            # Not in the context of the call that ends: what it holds would be held as long.
            self._waits = self.loop.call_later(IDLE_S, self._end_idle, loops, context=Context())
            asked.set_result(True)
        else:
            self._ending.set()
            asked.set_result(False)

    def _end_idle(self, loops: Loops) -> None:
        if loops.forget(self):
            self._ending.set()

    def _is_clean(self) -> bool:
        """Tell whether nothing of the call is left that could still happen, and the loop is set as it was made."""
        settings, loop = _settings(self.loop), cast(Any, self.loop)
        executor = settings[-1]
        if self.broken is not None or settings != self._made:
            return False
        if not isinstance(executor, LoopThreads) or not executor.is_idle:
            return False
        if any(generator.ag_frame is not None for generator in cast(Any, self._generators)):
            return False
        try:
            quiet = not loop._ready and all(timer.cancelled() for timer in loop._scheduled)
            return quiet and len(loop._selector.get_map()) == 1 and asyncio.all_tasks(loop) == {self._own}
        except (AttributeError, TypeError):  # not a loop of asyncio's own: nobody knows
            return False


@dataclass(slots=True)
class _Idle:
    """The loops that wait for a call in one process."""

    waiting: list[LoopThread] = field(default_factory=list[LoopThread])
    guard: Lock = field(default_factory=Lock)


class Loops:
    """The loops of one graph that wait for their next call. A child that was forked off has none of them."""

    def __init__(self) -> None:
        self._here = PerProcess(_Idle)

    @property
    def idle(self) -> int:
        """How many wait."""
        return len(self._here.get().waiting)

    def take(self) -> LoopThread:
        """Return a loop for one call: the one that came last, or another one."""
        here = self._here.get()
        with here.guard:
            while here.waiting:
                found = here.waiting.pop()
                if found.is_alive:
                    return found
        return LoopThread()

    def keep(self, loop: LoopThread) -> bool:
        """Let a loop wait for its next call; tell whether there is room.

        Args:
            loop: It is clean.
        """
        here = self._here.get()
        with here.guard:
            if len(here.waiting) >= MOST_IDLE:
                return False
            here.waiting.append(loop)
            return True

    def forget(self, loop: LoopThread) -> bool:
        """Let a loop wait no longer; tell whether it did.

        Args:
            loop: Any.
        """
        here = self._here.get()
        with here.guard:
            waits = loop in here.waiting
            if waits:
                here.waiting.remove(loop)
            return waits


def _settings(loop: asyncio.AbstractEventLoop) -> tuple[object, ...]:
    """Return what code on a loop may have set otherwise, its executor last."""
    executor: object = getattr(loop, "_default_executor", None)
    return (loop.get_debug(), loop.get_exception_handler(), loop.get_task_factory(), executor)
