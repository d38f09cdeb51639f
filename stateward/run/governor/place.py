"""Where a call of an agent is made: what is around it, and the door that it goes through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from stateward.chart.event import Occurrence
from stateward.govern.effective import Effective
from stateward.run.checkpoint import MAIN_BRANCH
from stateward.run.door.activation import Activation
from stateward.run.door.calling import Calling
from stateward.run.door.door import Door
from stateward.run.door.signal import Signal, Suspend, Trip, strongest
from stateward.run.door.tool import Tool, ToolResult
from stateward.run.door.working import Working, measured
from stateward.run.drive import Steps, Work
from stateward.run.governor.crowd import Crowd
from stateward.run.governor.standing import Standing, model_number
from stateward.run.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a call of an agent is made."""

    standing: Standing
    database: Database
    effective: Effective
    calling: Calling | None
    """What the agent runs in; None for one that nothing is around."""
    tenant: str = ""
    approver: str = ""
    turn: int
    """The activation that the call belongs to."""
    crowd: Crowd
    """The calls that are made beside it."""

    def door(self, tools: Mapping[str, Tool]) -> Door:
        """Return the door for one call.

        Args:
            tools: What may be called.
        """
        around = None if self.calling is None else cast(Door, self.calling.door)
        standing = self.standing
        door = Door(
            database=self.database,
            activation=Activation(
                session=standing.session,
                run=standing.run,
                branch=MAIN_BRANCH if around is None else around.activation.branch,
                path=standing.path,
                number=standing.base + self.turn,
                tenant=self.tenant if around is None else around.activation.tenant,
                container=None if around is None else around.activation.container,
            ),
            effective=self.effective,
            tools=tools,
            fence=None if around is None else around.fence,
            threads=self.database.threads if around is None else around.threads,
            notify=_say_nothing,
            events=None if around is None or around.events is None else around.events.under(self.effective),
            script=None if around is None or around.playing is None else around.playing.script,
            stragglers=None if around is None else around.stragglers,
            traffic=self.crowd.traffic if around is None else around.traffic,
            time=None if around is None else around.time,
        )
        door.is_agent = True
        return door

    def working(self, door: Door) -> Working | None:
        """Return what measures the working time, where a limit of it is set; None where none is.

        Args:
            door: The call's.
        """
        if not measured(self.effective):
            return None
        return Working(
            database=self.database,
            activation=door.activation,
            effective=self.effective,
            fence=door.fence,
            stopwatch=door.traffic.stopwatch,
            script=None if door.playing is None else door.playing.script,
        )

    @property
    def is_in_chart(self) -> bool:
        """Whether an activity of a chart is around, in which nobody is asked: it ends, and is entered again."""
        outermost = [each.door for each in self._around()]
        return bool(outermost) and not outermost[-1].is_agent

    def tell(self, signal: Signal | None) -> None:
        """Let everything around know why it must end.

        Args:
            signal: Why; None for nothing to tell.
        """
        for calling in self._around() if signal is not None else ():
            calling.signal = _merged(calling.signal, signal)
            calling.door.signal = _merged(calling.door.signal, signal)

    def refuse_ended(self, *, spare: bool = False) -> None:
        """End an agent whose chart must end, or was left.

        Args:
            spare: Whether questions that were put already leave time for the siblings of who put them.

        Raises:
            Suspend: Somebody is to be asked first.
            Trip: A fuse has tripped.
            RunError: The activity around is over.
        """
        for calling in self._around():
            calling.door.in_flight.check()
        if not self.is_in_chart:
            return
        for signal in (calling.door.signal for calling in self._around()):
            if signal is not None and not (spare and isinstance(signal, Suspend)):
                raise signal

    def _around(self) -> Sequence[Calling]:
        """What is around, innermost first."""
        chain, calling = list[Calling](), self.calling
        while calling is not None:
            chain.append(calling)
            calling = calling.around
        return chain


def timed(make: Work, place: Place, door: Door) -> Steps[Any]:
    """Make a call, and measure for how long it works where that has a limit.

    Args:
        make: Makes the call.
        place: Where it is made.
        door: The call's.

    Returns:
        A generator of work that returns what the call does.

    Raises:
        Trip: The working time is used up; the call was not made.
    """
    working = place.working(door)
    if working is None:
        return (yield make)
    event: Occurrence | None = yield Work(fn=working.begin)
    if event is not None:
        raise Trip(event)
    try:
        return (yield make)
    finally:
        yield Work(fn=_end, args=(working,), must_end=True)


def _end(working: Working) -> None:
    working.end()
    working.keep()


class Numbers:
    """Gives each model call of one turn its number: the first one that is free.

    A call that failed is made again under the next number, so that a thread whose model was down is not stuck with its
    failure. A call that is in the journal already, made of the same words, is answered from there.

    Args:
        door: Where the calls are made.
        first: The first attempt, from 0.
    """

    def __init__(self, door: Door, *, first: int = 0) -> None:
        self._door = door
        self.attempt = first
        """The next attempt."""
        self.is_used = False
        """Whether a call was made."""
        self._found: Iterator[int] = self._free()

    def __call__(self) -> int:
        """Take the next number; blocking."""
        self.is_used = True
        return next(self._found)

    def _free(self) -> Iterator[int]:
        journal, at = self._door.database.journal, self._door.activation
        while True:
            number = model_number(self.attempt)
            self.attempt += 1
            known = journal.get(at.key(number))
            if known is None or known.status != "failed":
                yield number


def _merged(one: Signal | None, other: Signal | None) -> Signal | None:
    """Put two reasons together; questions stand in call order, whichever was put first."""
    merged = strongest((one, other))
    if not isinstance(merged, Suspend):
        return merged
    return Suspend(sorted(merged.asks, key=lambda ask: (ask.path, ask.activation, ask.call)))


def _say_nothing(result: ToolResult) -> None:
    """LangGraph's own stream tells of an agent's results."""
