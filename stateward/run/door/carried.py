"""What LangChain itself reads from a model around its calls, taken over to the one that is governed."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel

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
