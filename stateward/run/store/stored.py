"""What LangGraph's savers store, apart from how they lay it out."""

from __future__ import annotations

from dataclasses import dataclass

from stateward.run.checkpoint import Json

NO_TASK = "00000000-0000-0000-0000-000000000000"
"""LangGraph's task of writes that come from outside; they belong to their checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCheckpoint:
    """One checkpoint of a session."""

    namespace: str
    id: str
    parent: str | None
    content: Json
    """The checkpoint with its channel values, those of user types still packed."""
    metadata: Json
    size: int
    """Bytes of its own row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWrite:
    """One write that belongs to a checkpoint."""

    namespace: str
    checkpoint: str
    task: str
    path: str
    no: int
    """LangGraph's number of the write in its task; below 0 for errors, interrupts and answers."""
    channel: str
    kind: str
    data: bytes
