"""What LangChain itself reads from a model around its calls, taken over to the one that is governed."""

from __future__ import annotations

from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel

from stateward.run.door.role import ModelRole

M = TypeVar("M", bound=BaseChatModel)

GOVERNED = "stateward_governed"
"""The metadata of a governed model while somebody reads events: its tokens are told by the door."""
_CARRIED = ("callbacks", "tags", "metadata", "rate_limiter", "verbose", "output_version")


def carried(model: BaseChatModel, *, is_heard: bool) -> dict[str, Any]:
    """Return the fields of a model that would not be seen otherwise.

    Args:
        model: What stands behind the door.
        is_heard: Whether somebody reads the events of the call.
    """
    found: dict[str, Any] = {name: getattr(model, name) for name in _CARRIED}
    if is_heard:
        found["metadata"] = {**(found["metadata"] or {}), GOVERNED: True}
    return found


def made_of(kind: type[M], role: ModelRole, *, is_heard: bool) -> M:
    """Make a governed model that has no door yet; what was made once is copied as long as the model stays as it is.

    Args:
        kind: The class of governed models.
        role: What stands behind the door.
        is_heard: Whether somebody reads the events of the call.
    """
    fields = carried(role.model, is_heard=is_heard)
    taken, made = role.made.get(kind, ({}, None))
    if made is not None and all(taken[name] is value for name, value in fields.items()):
        return made.model_copy()
    given: dict[str, Any] = {"role": role.name, "cache": False, **fields}
    made = kind(**given)
    role.made[kind] = (fields, made)  # one for each class, and never with a door: who gets one gets a copy
    return made.model_copy()
