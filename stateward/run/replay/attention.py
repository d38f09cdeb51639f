"""The order of things in a replay: what is waited for is what came next in the record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from stateward.run.hub.attention import Attention
from stateward.run.hub.crew import Crew, Key
from stateward.run.plan import Machine
from stateward.run.replay.divergence import Difference
from stateward.run.replay.recording import Moment, is_news
from stateward.run.replay.score import PlayOver, Score
from stateward.run.store.mailbox import Mailbox

PATIENCE_S = 60.0
"""How long a replay waits for something to happen in its activities: no tool and no model keeps them waiting."""


class RecordedCrew(Crew):
    """Activities of which the one is taken whose end the record has next."""

    def take_one(self, key: Key) -> tuple[Key, object] | None:
        """Take out an activity, if it has finished.

        Args:
            key: State and activation.
        """
        task = self._tasks.get(key)
        if task is None or not task.done():
            return None
        self._fresh, self._finished = [], [key]
        return self.take()

    async def changed(self, patience_s: float) -> bool:
        """Wait until another activity has finished, or somebody wakes it.

        Args:
            patience_s: Seconds at most.

        Returns:
            Whether it was in time.
        """
        self._fresh.clear()  # those wait for their own turn
        clock = asyncio.get_running_loop().time
        until = clock() + patience_s
        await self.wait(patience_s)
        return clock() < until

    def is_at_work(self, key: Key) -> bool:
        """Whether an activity has not finished.

        Args:
            key: State and activation.
        """
        return key in self._tasks and not self._tasks[key].done()


class RecordedAttention(Attention):
    """What the nodes of a replay wait for.

    Args:
        score: The record.
        machine: The lowered chart.
    """

    def __init__(self, score: Score, machine: Machine) -> None:
        super().__init__()
        self.crew: RecordedCrew = RecordedCrew()
        self._score = score
        self._machine = machine

    @property
    def overdue(self) -> bool:
        """Whether something from outside comes next, and the activity has made all calls it made before that."""
        expected = self._score.expected
        return expected is not None and is_news(expected, self._score.present) and not self._missing(expected)

    async def first(
        self, *, mailbox: Mailbox | None, session: str, due: float | None, now: Callable[[], float]
    ) -> tuple[Key, object] | None:
        """Wait for what came next in the record.

        Args:
            mailbox: Unused: the stage has posted what came.
            session: Unused.
            due: Unused: the record says which timers fired.
            now: Unused.

        Returns:
            Key and result of the activity that ended; None when something came from outside.

        Raises:
            PlayOver: The record ends here, or has the end of an activity that does not run.
        """
        loop = asyncio.get_running_loop()
        self._score.reached = partial(loop.call_soon_threadsafe, self.crew.wake)
        while self._score.divergence is None and (expected := self._score.expected) is not None:
            if is_news(expected, self._score.present):
                if not self._missing(expected):
                    return None
            elif (done := self._end_of(expected)) is not None:
                return done
            if not await self.crew.changed(PATIENCE_S):
                told = f"nothing has happened for {PATIENCE_S:g} s"
                self._score.differ(Difference(what="activity", recorded=_awaited(expected), came=told))
        raise PlayOver

    def _end_of(self, expected: Moment) -> tuple[Key, object] | None:
        path = str(expected.last.get("state"))
        key = self._machine.chart.by_path.get(path, -1), int(expected.last.get("activation") or 0)
        if key not in self.crew:
            self._score.differ(Difference(what="activity", recorded=_awaited(expected), came="it does not run"))
            raise PlayOver
        return self.crew.take_one(key)

    def _missing(self, expected: Moment) -> bool:
        """Whether an activity that the step stops has not yet made a call that it made before it was stopped."""
        present, made = self._score.present, set(self._score.made)
        for path in present.control["at"]:
            activation = present.control.get("entries", {}).get(path, 0)
            stays = path in expected.control["at"] and expected.control.get("entries", {}).get(path) == activation
            calls = () if stays else self._score.calls_of(path, activation, branch=present.branch)
            if not made.issuperset(calls):
                key = self._machine.chart.by_path[path], activation
                if key not in self.crew or self.crew.is_at_work(key):
                    return True
        return False


def _awaited(expected: Moment) -> str:
    return f"`{expected.last.get('event')}` in `{expected.last.get('state', '')}`"
