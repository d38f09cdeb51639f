"""A delta channel whose full copies grow further apart as its value grows.

LangGraph writes a full copy every so many updates: for a conversation of n messages copies of 100, 200, 300, … n, so
the disk grows with the square of n. Here a copy is due when the updates since the last one count half of what the value
holds now. A copy of n entries is then paid for by n / 2 updates, so the disk grows with the number of updates, whatever
is appended, replaced or removed; and who reads the value replays fewer updates than half its entries, or than
`at_least`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from typing import Any, Self

from langgraph.channels.delta import DeltaChannel


class GrowingDelta(DeltaChannel[Any]):
    """A delta channel of a value with a length, linear on disk.

    Args:
        reducer: Folds writes into the value, as LangGraph's `DeltaChannel` takes it.
        typ: The value's type; LangGraph sets it from the annotation.
        snapshot_frequency: Updates between two full copies while the value is small, ≥ 1.
    """

    __slots__ = ("at_least",)

    def __init__(
        self,
        reducer: Callable[[Any, Sequence[Any]], Any],
        typ: type[Any] | None = None,
        *,
        snapshot_frequency: int = 100,
    ) -> None:
        super().__init__(reducer, typ, snapshot_frequency=snapshot_frequency)

    @property
    def snapshot_frequency(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]  # it follows the value
        """How many updates since the last full copy make the next one due, now."""
        return max(self.at_least, len(self.value) // 2 if isinstance(self.value, Sized) else 0)

    @snapshot_frequency.setter
    def snapshot_frequency(self, updates: int) -> None:
        self.at_least = updates

    def __eq__(self, other: object) -> bool:
        """Tell whether it is a channel of the same kind, whatever it holds: a schema may declare it twice."""
        return isinstance(other, GrowingDelta) and (self.reducer, self.at_least) == (other.reducer, other.at_least)

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # like LangGraph's own channels

    def copy(self) -> Self:
        """Return a channel with a copy of the value."""
        return self._like_this(super().copy())

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return a channel with a stored value.

        Args:
            checkpoint: A full copy; LangGraph's mark for one that is missing leaves it empty.
        """
        return self._like_this(super().from_checkpoint(checkpoint))

    def _like_this(self, made: Self) -> Self:
        made.at_least = self.at_least  # LangGraph hands on what was due just now
        return made
