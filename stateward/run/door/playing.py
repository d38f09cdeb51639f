"""A replay's side of the door: what happens where a tool or a model would be called."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NoReturn

from stateward.errors import Diverged
from stateward.run.door.activation import Activation
from stateward.run.door.outcome import Outcome
from stateward.run.door.script import Script
from stateward.run.store.entry import CallKey, Entry


class Playing:
    """The calls of one visit of an activity in a replay.

    Args:
        script: How the calls of the record ended.
        activation: Whose calls these are.
    """

    def __init__(self, script: Script, activation: Activation) -> None:
        self.script = script
        self._activation = activation
        self._first: set[CallKey] = set()

    def order(self, numbers: Sequence[int]) -> list[int]:
        """Put the calls of a batch into the order in which the record has them begun.

        Args:
            numbers: The number of each.

        Returns:
            Their positions in the batch.
        """
        return self.script.in_order([self._activation.key(number) for number in numbers])

    def of_model(self, entry: Entry) -> Outcome | None:
        """Return what a model call came to; None when its activity was left before it had ended.

        Args:
            entry: The call, just begun.
        """
        outcome = self.script.outcome(entry)
        if outcome is not None:
            self._first.add(entry.key)
        return outcome

    def is_first(self, entry: Entry) -> bool:
        """Whether the activity sees the end of a model call for the first time, as when the model was called.

        Args:
            entry: The call.
        """
        return entry.key in self._first

    async def of_tool(self, entry: Entry) -> Outcome:
        """Return what a tool call came to; wait for ever when its activity was left before it had ended.

        Args:
            entry: The call, just begun.
        """
        return self.script.outcome(entry) or await self.never()

    async def never(self) -> NoReturn:
        """Wait for the end of a call that was under way when its activity was left."""
        while True:
            await asyncio.get_running_loop().create_future()  # nobody sets it

    def refuse(self, entry: Entry) -> NoReturn:
        """Refuse to wait in a thread for what never ends.

        Args:
            entry: A model call that was under way when its activity was left.

        Raises:
            Diverged: A sync call cannot have been left.
        """
        raise Diverged(
            f"In the record, call {entry.key.call} of the model `{entry.name}` has no end",
            where=entry.key.path,
            fix="It was awaited then, and its activity was left; it is a sync call now.",
        )
