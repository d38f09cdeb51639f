"""What an activity tells the custom stream of its graph: redacted as its policy says, and nothing of secret data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from stateward.govern.effective import Effective
from stateward.govern.redact import redact
from stateward.govern.sink import taken_out

Writer = Callable[[Any], None]
"""LangGraph's writer to the custom stream: it takes anything."""
NOT_SHOWN = "[not shown]"
"""What is sent in place of something that cannot be looked into."""


def telling(writer: Writer, *, effective: Effective) -> Writer:
    """Put the redaction of a state before a writer.

    Args:
        writer: LangGraph's.
        effective: The policy of the state.

    Returns:
        A writer that takes out what the policy keeps from the log; it sends nothing where data is secret.
    """
    if effective.data is not None and effective.data.sensitivity == "secret":
        return _silent
    classes = taken_out(effective, sink="log")

    def tell(data: Any) -> None:
        try:
            plain: object = to_jsonable_python(data, serialize_unknown=True, bytes_mode="base64")
        except (PydanticSerializationError, ValueError, RecursionError):
            writer(NOT_SHOWN)
            return
        clean = redact(plain, classes=classes)
        writer(data if clean == plain else clean)

    return tell


def _silent(_data: Any) -> None:
    """Send nothing."""
