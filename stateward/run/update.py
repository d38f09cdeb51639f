"""What an activity returns: its type, and the update that it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from langgraph.types import Command

from stateward.chart.data import update_of
from stateward.errors import UpdateRefused

S = TypeVar("S")

Update = Mapping[str, Any] | S | None
"""`sw.Update[State]`: some keys of the state, an instance of it, or nothing."""


def as_update(returned: object, *, where: str) -> Mapping[str, Any]:
    """Return the update that an activity's result stands for.

    Args:
        returned: A mapping, None, or an instance of a dataclass or Pydantic model.
        where: The state path, for the message.

    Returns:
        State key to value; of a Pydantic model only the fields that were set.

    Raises:
        UpdateRefused: It is something else; a `Command` for instance, since the chart decides where to go.
    """
    if returned is None:
        return {}
    name, update = type(returned).__name__, update_of(returned)
    if update is not None and not isinstance(returned, Command):
        return update
    raise UpdateRefused(
        f"`{name}` is not an update of the state",
        where=where,
        fix="Give a mapping of state keys; transitions belong into `to` and `on`.",
    )
