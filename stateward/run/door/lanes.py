"""Lanes: how many calls of a run are under way at once, in each scope that limits it.

A call takes a lane in every such scope at the same moment, or waits holding none, so that no two calls can wait for
each other. Who came first goes first. A call that is made inside another one (a nested agent's, in a tool) goes in the
lanes of that one, which only waits for it meanwhile; a second at the same time needs lanes of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock

Place = tuple[str, str]
"""A run, and a scope in it."""
_LOOK_S = 0.05
"""How long a thread waits for its lanes before it looks whether it still has to, in seconds."""
_AROUND: ContextVar[_Lanes | None] = ContextVar("stateward_lanes", default=None)
"""The lanes of the call this code runs in."""


@dataclass(slots=True, eq=False)
class _Lanes:
    """What one call takes."""

    wanted: Mapping[Place, int]
    """How many calls there may be in each place."""
    around: _Lanes | None
    granted: Future[None] = field(default_factory=Future[None])
    own: set[Place] = field(default_factory=set[Place])
    lenders: dict[Place, _Lanes] = field(default_factory=dict[Place, "_Lanes"])
    """Whose lane is used, where it is that of a call around."""
    lent: dict[Place, _Lanes] = field(default_factory=dict[Place, "_Lanes"])


class Lanes:
    """The lanes of the runs of one call of a graph; from any thread."""

    def __init__(self) -> None:
        self._taken: dict[Place, int] = {}
        self._line: list[_Lanes] = []
        self._lock = Lock()

    @asynccontextmanager
    async def atake(self, wanted: Mapping[Place, int]) -> AsyncGenerator[None]:
        """Hold a lane in each place while the block runs; wait for them on the loop.

        Args:
            wanted: How many calls there may be in each place, at least 1.
        """
        if not wanted:
            yield
            return
        lanes = self._ask(wanted)
        try:
            await asyncio.wrap_future(lanes.granted)
            token = _AROUND.set(lanes)
            try:
                yield
            finally:
                _AROUND.reset(token)
        finally:
            self._leave(lanes)

    @contextmanager
    def take(self, wanted: Mapping[Place, int], *, check: Callable[[], None]) -> Generator[None]:
        """Hold a lane in each place while the block runs; wait for them in this thread.

        A block that is a generator's may be left in between, as a stream is whose reader makes another call meanwhile:
        that one goes in its lanes.

        Args:
            wanted: How many calls there may be in each place, at least 1.
            check: Raises when nobody waits for the call any more.
        """
        if not wanted:
            yield
            return
        lanes = self._ask(wanted)
        try:
            _wait(lanes.granted, check)
            token = _AROUND.set(lanes)
            try:
                yield
            finally:
                with suppress(ValueError):  # a stream that was dropped is closed in another context
                    _AROUND.reset(token)
        finally:
            self._leave(lanes)

    def _ask(self, wanted: Mapping[Place, int]) -> _Lanes:
        lanes = _Lanes(wanted, _AROUND.get())
        with self._lock:
            self._line.append(lanes)
            ready = self._grant()
        _tell(ready)
        return lanes

    def _leave(self, lanes: _Lanes) -> None:
        with self._lock:
            if lanes in self._line:
                self._line.remove(lanes)
            for place in lanes.own:
                self._give_back(lanes, place)
            for place, lender in lanes.lenders.items():
                del lender.lent[place]
            lanes.own.clear()
            lanes.lenders.clear()
            ready = self._grant()
        _tell(ready)

    def _give_back(self, lanes: _Lanes, place: Place) -> None:
        borrower = lanes.lent.pop(place, None)
        if borrower is None:
            self._taken[place] -= 1
        else:  # it goes on although the call around has ended
            borrower.own.add(place)
            del borrower.lenders[place]

    def _grant(self) -> list[_Lanes]:
        ready = [lanes for lanes in self._line if self._granted(lanes)]
        self._line = [lanes for lanes in self._line if lanes not in ready]
        return ready

    def _granted(self, lanes: _Lanes) -> bool:
        lenders = {place: _lender(lanes.around, place) for place in lanes.wanted}
        if any(lenders[place] is None and self._taken.get(place, 0) >= most for place, most in lanes.wanted.items()):
            return False
        for place, lender in lenders.items():
            if lender is None:
                lanes.own.add(place)
                self._taken[place] = self._taken.get(place, 0) + 1
            else:
                lanes.lenders[place] = lender
                lender.lent[place] = lanes
        return True


def _lender(around: _Lanes | None, place: Place) -> _Lanes | None:
    """Find the call around that has a lane there and does not use it itself."""
    while around is not None:
        if (place in around.own or place in around.lenders) and place not in around.lent:
            return around
        around = around.around
    return None


def _tell(ready: list[_Lanes]) -> None:
    for lanes in ready:
        if lanes.granted.set_running_or_notify_cancel():  # it was given up at this moment, and leaves
            lanes.granted.set_result(None)


def _wait(granted: Future[None], check: Callable[[], None]) -> None:
    while True:
        try:
            granted.result(timeout=_LOOK_S)
        except NotYet:
            check()
        else:
            return
