"""Rows that cannot be read: what LangGraph raises over them, named."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from langgraph.checkpoint.base import CheckpointTuple

from stateward.errors import CodecError

_PARTS = frozenset({"id", "channel_values", "channel_versions", "versions_seen"})


@contextmanager
def readable(session: str) -> Generator[None]:
    """Say of a checkpoint that cannot be read that it is damaged.

    Args:
        session: Whose checkpoints are read; empty for those of all.

    Raises:
        CodecError: What is stored is no checkpoint.
    """
    try:
        yield
    except (TypeError, ValueError, AttributeError) as damage:
        raise CodecError(
            f"A checkpoint cannot be read: {damage}",
            where=f"session `{session}`" if session else "",
            fix="Restore the database from a backup, or `stateward restore` the session from its archive.",
        ) from damage


def whole(found: CheckpointTuple) -> CheckpointTuple:
    """Return what was read, when it has the parts of a checkpoint; what was damaged may be a value of another kind.

    Args:
        found: As LangGraph read it.

    Raises:
        ValueError: It has not.
        TypeError: It is no mapping.
    """
    missing = _PARTS - {*found.checkpoint}
    if missing or not isinstance(found.metadata, dict):  # pyright: ignore[reportUnnecessaryIsInstance]  # it may be damaged
        raise ValueError(f"it lacks {', '.join(sorted(missing)) or 'metadata'}")
    return found
