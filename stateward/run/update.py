"""What an activity returns: its type, and the update that it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar, cast

from langgraph.types import Command
from pydantic import BaseModel

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
    if isinstance(returned, Mapping):
        return cast("Mapping[str, Any]", returned)
    if isinstance(returned, BaseModel):
        return {key: getattr(returned, key) for key in returned.model_fields_set}
    if is_dataclass(returned) and not isinstance(cast("object", returned), type | Command):
        return asdict(cast("Any", returned))
    raise UpdateRefused(
        f"`{type(returned).__name__}` is not an update of the state",
        where=where,
        fix="Give a mapping of state keys; transitions belong into `to` and `on`.",
    )
