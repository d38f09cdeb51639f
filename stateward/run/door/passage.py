"""How a call comes to its turn: it waits until there is a lane for it, and until the pace lets it begin."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

from stateward.run.door.lanes import Place
from stateward.run.door.providers import Providers
from stateward.run.door.traffic import Traffic
from stateward.run.door.waiting import TooEarly

T = TypeVar("T")


class Passage:
    """The way of one activation's calls to their turn. No lane is held while a call waits for the pace.

    Args:
        lanes: How many calls there may be in each place that limits them.
        traffic: Of the call of the graph.
        providers: How this process waits.
        refuse_ended: Raises when the activity makes no calls any more.
    """

    def __init__(
        self,
        *,
        lanes: Mapping[Place, int],
        traffic: Traffic,
        providers: Providers,
        refuse_ended: Callable[[], None],
    ) -> None:
        self._lanes = lanes
        self._traffic = traffic
        self._providers = providers
        self._refuse_ended = refuse_ended

    @property
    def is_free(self) -> bool:
        """Whether there is no lane that a call has to wait for."""
        return not self._lanes

    @asynccontextmanager
    async def aturn(self, admit: Callable[[], Awaitable[T]]) -> AsyncGenerator[T]:
        """Wait on the loop for a call's turn, let it in, and hold its lanes while the block runs.

        Args:
            admit: Lets the call in; done again when it came too early.

        Yields:
            What `admit` returns.
        """
        while True:
            async with self._traffic.lanes.atake(self._lanes):
                try:
                    admitted = await admit()
                except TooEarly as early:
                    wait_s = early.wait_s
                else:
                    yield admitted
                    return
            await self._providers.apause(wait_s)
            self._refuse_ended()

    async def afree(self, admit: Callable[[], Awaitable[T]]) -> T:
        """Do what `aturn` does where there is no lane, so that nothing is held and there is no block to leave.

        Args:
            admit: As for `aturn`.

        Returns:
            What `admit` returns.
        """
        while True:
            try:
                return await admit()
            except TooEarly as early:
                wait_s = early.wait_s
            await self._providers.apause(wait_s)
            self._refuse_ended()

    @contextmanager
    def turn(self, admit: Callable[[], T]) -> Generator[T]:
        """Wait in this thread for a call's turn, let it in, and hold its lanes while the block runs.

        Args:
            admit: Lets the call in; done again when it came too early.

        Yields:
            What `admit` returns.
        """
        while True:
            with self._traffic.lanes.take(self._lanes, check=self.refuse_left):
                try:
                    admitted = admit()
                except TooEarly as early:
                    wait_s = early.wait_s
                else:
                    yield admitted
                    return
            self._providers.pause(wait_s, self.refuse_left)

    def refuse_left(self) -> None:
        """Let a thread wait for no call that nobody waits for.

        Raises:
            RunError: The activity, or the call of the graph, is over.
            LeftEarly: The call of the graph is to stop.
        """
        self._refuse_ended()
        self._traffic.check()
