"""The LangGraph channel that holds the control value.

LangGraph's own reducer channel would do, but looks at each write for what only a user's channel gets, and each step
writes to this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, cast

from langgraph.channels.base import BaseChannel

from stateward.run.checkpoint import CHANNEL, MAIN_BRANCH, Json, merge
from stateward.run.control_form import full, short


class ControlChannel(BaseChannel[Json, Json, Json]):
    """Holds the control value and merges each delta that is written to it; empty before the first run.

    Args:
        typ: The type LangGraph knows it by.
        key: The channel's name.
    """

    __slots__ = ("_value",)

    def __init__(self, typ: Any = dict, key: str = "") -> None:
        super().__init__(typ, key)
        self._value: Json = {}

    def __eq__(self, other: object) -> bool:
        """Tell whether it is a channel of the same kind: a schema may declare it twice."""
        return isinstance(other, ControlChannel)

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # like LangGraph's own channels

    @property
    def ValueType(self) -> type[Json]:  # noqa: N802  # LangGraph's name
        """The type of the value."""
        return dict

    @property
    def UpdateType(self) -> type[Json]:  # noqa: N802  # LangGraph's name
        """The type of a delta."""
        return dict

    def copy(self) -> Self:
        """Return a channel with the same value."""
        made = self.__class__(self.typ, self.key)
        made._value = self._value
        return made

    def checkpoint(self) -> Json:
        """Return the value, to be stored: without what nothing is said of, which most steps have nothing of."""
        return short(self._value, branch=MAIN_BRANCH)

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return a channel with a stored value.

        Args:
            checkpoint: The value; LangGraph's mark for one that is missing leaves it empty.
        """
        made = self.__class__(self.typ, self.key)
        if isinstance(checkpoint, dict):
            made._value = full(cast(Json, checkpoint), branch=MAIN_BRANCH)
        return made

    def get(self) -> Json:
        """Return the value."""
        return self._value

    def is_available(self) -> bool:
        """Return true: it has a value from the beginning."""
        return True

    def update(self, values: Sequence[Json]) -> bool:
        """Merge deltas.

        Args:
            values: What was written in this step, in order.

        Returns:
            Whether there were any.
        """
        for delta in values:
            self._value = merge(self._value, delta)
        return bool(values)


def control_in(values: Mapping[str, Any]) -> Json | None:
    """Return the control value among those of a stored checkpoint, whole.

    Args:
        values: The checkpoint's values by channel.

    Returns:
        The value; None for a checkpoint of a graph that is no chart.
    """
    stored: object = values.get(CHANNEL)
    return full(cast(Json, stored), branch=MAIN_BRANCH) if isinstance(stored, dict) else None
